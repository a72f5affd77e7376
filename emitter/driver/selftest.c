/* SPDX-License-Identifier: MIT */
/* For --selftest: stores the checksum of every layer's result on the recorded input, after the program is assembled. A
 * result is compared right after its layer, because later layers may reuse the memory. */

/* Decision: a self-test shares the list of layers. With `--selftest`, `NAME_layers` contains the list of layers, and
 * both `NAME_run` and `NAME_selftest` call it. A second list would cost the code of every call again. After each layer,
 * its results are compared with FNV-1a sums of the interpreter's results (`driver/selftest.c`), because later layers
 * reuse their memory. Floats are compared by bits, which `runtime/lw_math.h` keeps the same everywhere. */
#include "driver/driver.h"

#include "support/names.h"

/* FNV-1a (Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm"). Each step is a bijection of the sum, so a
 * single wrong byte always changes it. The lowest byte of an element comes first, whatever the machine's byte order. */
static uint32_t checksum(const void *data, int64_t bytes, int size)
{
    const uint8_t *at = data;
    const uint16_t one = 1;
    const int64_t flip = *(const uint8_t *)&one == 1 ? 0 : size - 1;
    uint32_t sum = UINT32_C(2166136261);
    for (int64_t i = 0; i < bytes; i++) sum = (sum ^ at[i ^ flip]) * UINT32_C(16777619);
    return sum;
}

/* Sets the rows, bytes and pitch of a result, which may be a slice of the tensor that owns the memory. Returns false if
 * the rows are not equidistant. If the run decides the result's size, the result is stored densely and has `bytes`
 * bytes on the recorded input. */
static bool find_rows(const Slot *s, int64_t bytes, Check *c)
{
    if (!tensor_is_fixed(s->tensor)) {
        c->rows = 1;
        c->bytes = bytes;
        return true;
    }
    const int elem = dtype_info(s->tensor->type)->bytes;
    int64_t run = 1, pitch = 0;
    int d = s->tensor->rank;
    for (; d > 0 && (tensor_dim(s->tensor, d - 1) == 1 || s->stride[d - 1] == run); d--)
        run *= tensor_dim(s->tensor, d - 1);
    c->rows = 1;
    for (; d > 0; d--) {
        const int64_t size = tensor_dim(s->tensor, d - 1), stride = s->stride[d - 1];
        if (size == 1) continue;
        if (!pitch) pitch = stride;
        if (stride != pitch * c->rows) return false;
        c->rows *= size;
    }
    c->bytes = run * elem;
    c->pitch = c->rows > 1 ? pitch * elem : 0;
    return true;
}

/* Returns true if the result is still in the memory of NAME_run after group `last`, the last group of the call. */
static bool survives(const Slot *s, int last, bool is_partition)
{
    return s && (!is_partition || s->kind == SLOT_OUTPUT || s->last > last);
}

/* Adds the checks of a group's results after call `call`. */
static void add_checks(const Build *b, int group, int call, int last, Check *check, int *count)
{
    const Group *g = &b->groups.at[group];
    const bool is_partition = b->devices.of && b->devices.of[group] >= 0;
    for (int i = 0; i < g->output_count; i++) {
        const Slot *s = plan_slot(&b->plan, g->output[i]);
        const void *data = env_get(b->observed.recorded, g->output[i]);
        Check c = { .call = call, .label = b->program.call[call].label };
        const int64_t bytes = tensor_bytes(build_actual(b, g->output[i]));
        const bool is_set = data && bytes && !region_fills_part(g->output[i]) && survives(s, last, is_partition);
        if (!is_set || !find_rows(s, bytes, &c)) continue;
        c.place = build_place(b, s);
        c.sum = checksum(data, bytes, dtype_info(g->output[i]->type)->bytes);
        check[(*count)++] = c;
    }
}

static int partition_of(const Build *b, int group) { return b->devices.of ? b->devices.of[group] : -1; }

/* Returns the last group of the partition, or the group itself if it is in no partition. */
static int last_group(const Build *b, int group)
{
    int last = group;
    for (int i = group; i < b->groups.count && partition_of(b, group) >= 0; i++)
        if (partition_of(b, i) == partition_of(b, group)) last = i;
    return last;
}

uint32_t build_checksum(const Build *b, const Tensor *t, const void *data)
{
    t = build_actual(b, t);
    return checksum(data, tensor_bytes(t), dtype_info(t->type)->bytes);
}

void build_selftest(Build *b)
{
    int results = 0, count = 0, calls = 0, first = 0;
    if (!b->observed.recorded) return;
    for (int i = 0; i < b->groups.count; i++) results += b->groups.at[i].output_count;
    Check *check = NEW_ARRAY(b->cx->arena, Check, results);
    for (int i = 0; i < b->groups.count; i++) {
        if (!b->lowered.function[i] && !region_of_group(b, i)) continue;
        const Partition *p = b->program.call[calls].partition;
        if (!p || !calls || b->program.call[calls - 1].partition != p) first = calls;
        add_checks(b, i, first, last_group(b, i), check, &count);
        calls++;
    }
    Selftest *test = NEW(b->cx->arena, Selftest);
    const Tensor **input = NEW_ARRAY(b->cx->arena, const Tensor *, b->program.input_count);
    const char **name = NEW_ARRAY(b->cx->arena, const char *, b->program.input_count);
    for (int i = 0; i < b->program.input_count; i++) {
        const Port *p = &b->program.input[i];
        Tensor *constant = arena_copy(b->cx->arena, p->tensor, sizeof *p->tensor);
        constant->data = env_get(b->observed.recorded, p->tensor);
        input[i] = constant;
        name[i] = build_symbol(b, name_format(b->cx, "selftest_%s", p->name));
    }
    *test = (Selftest){ count, check, input, name };
    b->program.selftest = test;
}
