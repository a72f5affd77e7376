/* SPDX-License-Identifier: MIT */
/* Runs an emitted network, prefix m, for several steps; the state goes from one to the next:
 *
 *     micro_main STEPS IN... OUT...      raw elements of STEPS values of each input and output, one after the other
 *
 * Status 0: OUT... are written. */
#include "m.h"

#include <stdio.h>
#include <stdlib.h>

static M_ARENA(arena);
#ifdef M_HAS_STATE
static struct m_state state;
#define RUN(in, out) m_run(arena, &state, in, out)
#else
#define RUN(in, out) m_run(arena, in, out)
#endif

#define DECLARE(name, type, count) static type name##_data[count];
M_INPUTS(DECLARE)
M_OUTPUTS(DECLARE)

static FILE *opened(const char *path, const char *how)
{
    FILE *f = path ? fopen(path, how) : NULL;
    if (!f) {
        printf("micro_main: %s cannot be opened\n", path ? path : "a file that is missing");
        exit(1);
    }
    return f;
}

int main(int argc, char **argv)
{
    enum { MOST = 32 };
    FILE *file[MOST];
    struct m_inputs in;
    struct m_outputs out;
    const int steps = argc > 1 ? atoi(argv[1]) : 0;
    int count = 0, status = steps < 1;
#define OPEN_INPUT(name, type, elems) in.name = name##_data; file[count] = opened(argv[2 + count], "rb"); count++;
#define OPEN_OUTPUT(name, type, elems) out.name = name##_data; file[count] = opened(argv[2 + count], "wb"); count++;
    M_INPUTS(OPEN_INPUT)
    M_OUTPUTS(OPEN_OUTPUT)
#ifdef M_HAS_STATE
    m_reset(&state);
#endif
    for (int s = 0; s < steps && !status; s++) {
        count = 0;
#define READ(name, type, elems) status |= fread(name##_data, sizeof(type), elems, file[count++]) != (elems);
#define WRITE(name, type, elems) status |= fwrite(name##_data, sizeof(type), elems, file[count++]) != (elems);
        M_INPUTS(READ)
        if (!status) status = RUN(&in, &out);
        M_OUTPUTS(WRITE)
    }
    for (int i = 0; i < count; i++) status |= fclose(file[i]) != 0;
    return status != 0;
}
