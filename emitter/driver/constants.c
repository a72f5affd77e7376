/* SPDX-License-Identifier: MIT */
/* Numbers the constants of the program: first the model's graph, then the graphs of regions. A tensor with several
 * consumers is one constant. Passes may compute equal tensors, such as a weight that both branches of an `if` read, or
 * that every step of an unrolled layer transposes. Therefore tensors of one type with equal bytes are one constant. */
#include "driver/driver.h"

#include <string.h>

#include "support/names.h"
#include "support/text.h"

/* A numbered constant, and the next constant with the same key. */
typedef struct Known { const Tensor *tensor; int number; struct Known *next; } Known;
typedef struct Numbers { Ctx *cx; Shared *s; Map by_tensor, by_key; } Numbers;

/* Equal tensors have equal keys; the key consists of the type, the number of bytes, and the first bytes. */
enum { SHORT_KEY = 64 };
typedef struct Key { int64_t type, bytes; char first[SHORT_KEY]; } Key;

static Key key_of(const Tensor *t)
{
    Key k = { t->type, tensor_bytes(t), { 0 } };
    if (k.bytes > 0) memcpy(k.first, t->data, k.bytes < SHORT_KEY ? (size_t)k.bytes : SHORT_KEY);
    return k;
}

static int number_of(Numbers *n, const Tensor *t)
{
    const int *number = map_get_ptr(&n->by_tensor, t);
    if (number) return *number;
    const Key key = key_of(t);
    Known *first = map_get(&n->by_key, &key, sizeof key), *k = first;
    while (k && key.bytes > 0 && memcmp(k->tensor->data, t->data, (size_t)key.bytes)) k = k->next;
    if (!k) {
        k = NEW(n->cx->arena, Known);
        *k = (Known){ t, n->s->constant_count, NULL };
        n->s->constant[n->s->constant_count++] = t;
        if (first) k->next = first->next, first->next = k;
        else map_put(&n->by_key, arena_copy(n->cx->arena, &key, sizeof key), sizeof key, k);
    }
    map_put_ptr(&n->by_tensor, t, &k->number);
    return k->number;
}

/* Mach-O names a segment and a section, "__DATA,__const". A linker script reads `.` as the location counter, and a word
 * that begins with a digit as a number. */
bool build_is_section(const char *name)
{
    static const char digits[] = "0123456789", others[] = ".$,",
                      letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    bool begins = true, has_letter = false;
    for (const char *c = name; *c; c++) {
        const bool is_letter = strchr(letters, *c), is_comma = *c == ',';
        if (!is_letter && !strchr(digits, *c) && !strchr(others, *c)) return false;
        if (begins && (is_comma || strchr(digits, *c))) return false;
        if (is_comma && (!has_letter || strchr(name, ',') != c)) return false;
        begins = is_comma;
        has_letter = !is_comma && (has_letter || is_letter);
    }
    return has_letter;
}

bool build_weights_kind(const lw_options *o, WeightsKind *kind, const char **section)
{
    static const char *const words[] = { [WEIGHTS_TEXT] = "c", [WEIGHTS_FLASH] = "progmem", [WEIGHTS_CALLER] = "bin",
                                         [WEIGHTS_INCLUDED] = "incbin" };
    static const char of_section[] = "section=";
    const char *given = o->weights ? o->weights : words[WEIGHTS_TEXT];
    *section = NULL;
    if (strncmp(given, of_section, sizeof of_section - 1) == 0) {
        *section = given + sizeof of_section - 1;
        *kind = WEIGHTS_SECTION;
        return build_is_section(*section);
    }
    for (*kind = WEIGHTS_TEXT; *kind <= WEIGHTS_INCLUDED; (*kind)++)
        if (*kind != WEIGHTS_SECTION && text_equal(given, words[*kind])) return true;
    return false;
}

static const char *obstacle_of_weights(const Program *p)
{
    const bool is_flash = p->weights.kind == WEIGHTS_FLASH;
    if (p->partition_count && (is_flash || p->weights.kind == WEIGHTS_CALLER))
        return "functions of a device, which receive no address of weights";
    if (p->step && is_flash) return "--train, whose parameters begin with constants";
    if (p->body_count && is_flash) return "control flow, whose bodies receive constants like other tensors";
    for (int i = 0; i < p->state_count; i++)
        if (p->state[i].initial && is_flash) return "state with initial values";
    return NULL;
}

void build_weights(Build *b)
{
    Program *p = &b->program;
    const char *obstacle = obstacle_of_weights(p);
    if (obstacle)
        diag_unsupported(b->cx, NULL, "--weights %s does not accept %s; use c, %s", b->options->weights, obstacle,
                         p->weights.kind == WEIGHTS_FLASH ? "section=NAME" : "incbin, section=NAME");
    else if (p->weights.kind == WEIGHTS_FLASH) cgen_check_flash(b->cx, p);
    else if (p->weights.kind == WEIGHTS_CALLER || p->weights.kind == WEIGHTS_INCLUDED) {
        cgen_place_weights(b->cx, p, text_format(b->cx, "%s.bin", b->output_stem ? b->output_stem : p->name));
        cgen_seal_weights(b->cx, p, cgen_code(b->cx, p));
    }
}

/* Names a constant after its first consumer and its role in this consumer, such as "conv_1_w". A constant of a region
 * keeps the model's name. */
static void name_constants(const Build *b)
{
    const char **out = b->shared->constant_name;
    for (int i = 0; i < b->groups.count; i++) {
        const Group *g = &b->groups.at[i];
        for (int j = 0; j < g->input_count && (b->lowered.function[i] || region_of_group(b, i)); j++) {
            const Slot *s = plan_slot(&b->plan, g->input[j]);
            if (s->kind != SLOT_CONST || out[b->constant_of[s->index]]) continue;
            const Tensor *role = b->scheduled.nest[i] ? b->scheduled.nest[i]->input[j] : g->input[j];
            out[b->constant_of[s->index]] = build_symbol(
                b, name_format(b->cx, "%s_%s", g->name, name_identifier(b->cx, role->name)));
        }
    }
}

void build_constants(Build *b)
{
    Ctx *cx = b->cx;
    Numbers n = { cx, b->shared, map_new(cx->arena), map_new(cx->arena) };
    int most = 0;
    for (const Build *g = b; g; g = g->tree.next) most += g->plan.constant_count;
    b->shared->constant = NEW_ARRAY(cx->arena, const Tensor *, most);
    b->shared->constant_name = NEW_ARRAY(cx->arena, const char *, most);
    for (Build *g = b; g; g = g->tree.next) {
        g->constant_of = NEW_ARRAY(cx->arena, int, g->plan.constant_count);
        for (int i = 0; i < g->plan.constant_count; i++) g->constant_of[i] = number_of(&n, g->plan.constant[i]);
        name_constants(g);
    }
}
