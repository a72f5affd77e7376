/* table_int8: table-int8.te for generic, emitted by Loopwright. */
#include "generic.h"
#if TABLE_INT8_HEADER_HASH != 0x1f78f46b
#error "the header is from another run of Loopwright; include the header that was written with this file"
#endif

#include <stddef.h>

#include "lw_base.h"

#ifndef LW_LAYER
#define LW_LAYER(number, name)     /* runs before each layer; define it to measure time */
#endif

/* lookup
 * y[n<1, c<9] = table[i32(x[0, c])+128]
 * x: [1][9]  table: [256]  y: [1][9] */
static void table_int8_y(const int8_t *restrict x, const int8_t *table, int8_t *restrict y)
{
    for (int32_t c = 0; c < 9; c++)
        y[c] = table[(int32_t)x[c] + 128];
}

/* [256] */
static const LW_ALIGN(16) int8_t table_int8_y_table[256] = {
    -128,-128,-128,-128,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,-127,
    -127,-127,-127,-127,-127,-127,-127,-126,-126,-126,-126,-126,-126,-126,-126,-126,-126,-125,-125,
    -125,-125,-125,-125,-125,-124,-124,-124,-124,-124,-123,-123,-123,-123,-122,-122,-122,-122,-121,
    -121,-120,-120,-120,-119,-119,-118,-118,-117,-117,-116,-116,-115,-115,-114,-113,-113,-112,-111,
    -110,-109,-109,-108,-107,-106,-105,-104,-102,-101,-100,-99,-97,-96,-95,-93,-92,-90,-88,-87,-85,
    -83,-81,-79,-77,-75,-73,-71,-69,-66,-64,-62,-59,-57,-54,-51,-49,-46,-43,-40,-37,-34,-31,-28,-25,
    -22,-19,-16,-13,-10,-6,-3,0,3,6,10,13,16,19,22,25,28,31,34,37,40,43,46,49,51,54,57,59,62,64,66,
    69,71,73,75,77,79,81,83,85,87,88,90,92,93,95,96,97,99,100,101,102,104,105,106,107,108,109,109,110,
    111,112,113,113,114,115,115,116,116,117,117,118,118,119,119,120,120,120,121,121,122,122,122,122,
    123,123,123,123,124,124,124,124,124,125,125,125,125,125,125,125,126,126,126,126,126,126,126,126,
    126,126,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,127,
    127,127,127
};

int table_int8_run(void *arena, const struct table_int8_inputs *in, const struct table_int8_outputs *out)
{
    (void)arena;
    if (in == NULL || in->x == NULL) return TABLE_INT8_E_NULL;
    if (out == NULL || out->y == NULL) return TABLE_INT8_E_NULL;
    LW_LAYER(0, "y")
    table_int8_y(in->x, table_int8_y_table, out->y);
    return 0;
}
