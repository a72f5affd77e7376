/* SPDX-License-Identifier: 0BSD */
/* Runs the self-test of @name@ once and prints the number of wrong elements. */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "@name@_selftest.h"

static @NAME@_ARENA(arena);

int main(void)
{
	const int64_t begun = k_uptime_get();
	const long wrong = @name@_selftest(arena);

	printk("@name@: %ld elements of the outputs are wrong, %d ms\n", wrong, (int)(k_uptime_get() - begun));
	return 0;
}
