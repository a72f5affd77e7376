/* SPDX-License-Identifier: MIT */
/* The macros of runtime/simd/rows.h against the formulas of their rows, with the instructions that the compiler has for
 * them. rows_cases.h, which rows_cases.c writes, has the calls and the hashes of their results by the formulas. Status:
 * the number of the first macro that differs, as in rows_cases.h. It requires no library, so it also runs on an
 * emulated core. */
#ifdef ROWS_CORE
#include ROWS_CORE
#endif
#include "simd/simd.h"

#include "rows_data.h"

typedef void RowsCall(const int32_t *number, void *result, const void *const *operand);

#include "rows_cases.h"

static LW_ALIGN(16) int32_t result[ROWS_ROOM], operand[ROWS_OPERANDS][ROWS_ROOM];

/* A memory ends where the case's elements end, but for 3 bytes, so that a checker of addresses finds a read beyond. */
static void *at_end(char type, int32_t *memory, int32_t extent)
{
    const int32_t size = type == 'b' || type == 'u' ? 1 : type == 'h' || type == 'n' ? 2 : 4;
    return memory + (ROWS_ROOM - (extent * size + 3) / 4);
}

/* Runs the case and returns the number of its macro if the result differs, else 0; stores its length. */
static int run(const int32_t *at, int32_t *length)
{
    const RowsCase *c = (const RowsCase *)(const void *)at;
    const RowsMemory *m = (const RowsMemory *)(const void *)(at + sizeof *c / sizeof *at);
    const int32_t *numbers = at + (sizeof *c + (size_t)c->memories * sizeof *m) / sizeof *at;
    const char *types = rows_types[c->macro];
    const void *x[ROWS_OPERANDS];
    *length = (int32_t)(numbers - at) + c->numbers;
    if (!rows_calls[c->call] || (LW_SIMD_RVV && c->is_wide)) return 0;
    void *y = at_end(types[0], result, m[0].extent);
    rows_fill(types[0], y, &m[0]);
    for (int32_t k = 1; k < c->memories; k++) {
        void *to = at_end(types[k], operand[k - 1], m[k].extent);
        rows_fill(types[k], to, &m[k]);
        x[k - 1] = to;
    }
    rows_calls[c->call](numbers, y, x);
    return rows_hash(types[0], y, m[0].extent) == (uint32_t)c->hash ? 0 : c->macro;
}

int main(void)
{
    const int32_t count = (int32_t)(sizeof rows_cases / sizeof *rows_cases);
    for (int32_t at = 0, length = 0; at < count; at += length) {
        const int status = run(rows_cases + at, &length);
        if (status) return status;
    }
    return 0;
}
