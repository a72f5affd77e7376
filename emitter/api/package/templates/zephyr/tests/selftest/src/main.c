/* SPDX-License-Identifier: 0BSD */
/* Runs the recorded vector of @name@ as a ztest. */
#include <zephyr/ztest.h>

#include "@name@_selftest.h"

static @NAME@_ARENA(arena);

ZTEST_SUITE(@name@, NULL, NULL, NULL, NULL, NULL);

ZTEST(@name@, test_recorded_outputs_agree)
{
	zassert_equal(@name@_selftest(arena), 0, "the recorded outputs differ");
}
