/* SPDX-License-Identifier: MIT */
/* Random programs under random schedules (tests/fuzz). Without arguments the first 400 seeds, and 60 with many
 * copies; with SEED COUNT [copies] those, and the table of accepted and refused steps. COUNT 1 shows the one program in
 * full. */
#include "../fuzz/programs.c"
#include "../fuzz/schedules.c"

#include "check.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { ENOUGH_FAILURES = 5, ENOUGH_PROGRAMS = 4000 };
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 400;
    const FuzzKind kind = argc > 3 && strcmp(argv[3], "copies") == 0 ? FUZZ_COPIES : FUZZ_ANY;
    Counts counts = { 0 };
    for (long i = 0; i < count && counts.failures < ENOUGH_FAILURES; i++)
        fuzz_schedule(seed + (uint64_t)i, &counts, kind, count == 1);
    for (uint64_t i = 1; argc < 2 && i <= 60; i++) fuzz_schedule(i, &counts, FUZZ_COPIES, false);
    print_counts(&counts);
    const int never = print_paths(&counts);
    check_that(counts.failures == 0, "random schedules keep every value", "%ld programs failed, from seed %llu on",
               counts.failures, (unsigned long long)seed);
    CHECK("most seeds give a program", counts.programs >= count * 9 / 10);
    if (count >= ENOUGH_PROGRAMS)
        check_that(never == 0, "each path of the fast interpreter runs", "%d of %d paths never ran", never,
                   interpret_path_count());
    return check_done();
}
