/* SPDX-License-Identifier: MIT */
/* code_text MODEL TARGET: the parts of each function's text, a line each: NAME PARTS... (tests/bench/code.py). */
#include <stdio.h>

#include "context/context.h"
#include "driver/driver.h"
#include "lower/text.h"

static int memory_of(const Program *p)
{
    int count = 0;
    for (int i = 0; i < p->call_count; i++) count += p->call[i].place_count;
    return count;
}

int main(int argc, char **argv)
{
    Build b;
    lw_context *cx = argc == 3 ? lw_new() : NULL;
    const lw_options o = { .target = argv[argc - 1], .name = "net" };
    if (!cx || !build_read(&b, (Ctx *)cx, argv[1], &o) || !build_graph(&b) || !build_nests(&b) || !build_program(&b))
        return 1;
    Map shared = map_new(b.cx->arena);
    printf("%d %d\n", b.program.call_count, memory_of(&b.program));
    for (int i = 0; i < b.program.function_count; i++) {
        double parts[TEXT_KINDS] = { 0 };
        const Function *f = b.program.function[i];
        text_parts(b.cx, f->body, b.target->costs, &shared, parts);
        printf("%s", f->name);
        for (int k = 0; k < TEXT_CALL; k++) printf(" %g", parts[k]);
        putchar('\n');
    }
    return 0;
}
