/* SPDX-License-Identifier: MIT */
/* The memory plan as a text, NAME.plan beside the header, with --memory; --keep-plan FILE reads it. A new training of
 * the same network then has the places of the old one, also with a later compiler, so firmware and files that use the
 * places stay valid. A line is an item:
 *
 *   result conv_1.0 dtcm 4096 128 128        the bytes, the offset, and the offset where the layer stores it
 *   scratch conv_1.0 dtcm 256 4224
 *   copy conv_4.2 dtcm 2304 512 3            of a constant: the bytes, the offset, and the layer before which it begins
 *   constant conv_4_k.7 qspi 2304            the memory with the key rom
 *
 * An item is named by the layer that owns it and a number; inputs and outputs of --io have the layers `input` and
 * `output`. */
#include "driver/driver.h"

#include <string.h>

#include "support/file.h"
#include "support/map.h"
#include "support/names.h"
#include "support/text.h"

enum { MOST_NUMBERS = 3 };
#define FIRST_LINE "loopwright plan 1"

/* An item of the plan that is made; one of root, scratch and constant is set. */
typedef struct PlanItem {
    const char *kind, *name;         /* "result", "conv_1.0" */
    Slot *root; Scratch *scratch;
    int constant;                    /* the index of a constant */
    int64_t bytes;
} PlanItem;
typedef struct PlanItems { int count; PlanItem *at; } PlanItems;

/* ---- Items ------------------------------------------------------------------------------------------------------- */

static const char *owner_of(const Build *b, const Slot *root)
{
    const Live live = plan_live(root);
    return root->kind == SLOT_INPUT ? "input" : root->kind == SLOT_OUTPUT ? "output" : b->groups.at[live.first].name;
}

/* Lists the items in the order of roots, scratch memory and constants; items of one kind and owner are numbered. */
static PlanItems items_of(Build *b)
{
    Ctx *cx = b->cx;
    Plan *p = &b->plan;
    int most = p->slot_count + p->constant_count;
    for (int g = 0; g < b->groups.count; g++) most += b->lowered.scratch_count[g];
    PlanItems items = { 0, NEW_ARRAY(cx->arena, PlanItem, most) };
    Map taken = map_new(cx->arena);
    for (int i = 0; i < p->slot_count; i++) {
        Slot *s = &p->slot[i];
        if (!s->in_arena || s->root != s->tensor) continue;
        const char *owner = owner_of(b, s);
        int *number = map_get(&taken, owner, strlen(owner));
        if (!number) map_put(&taken, owner, strlen(owner), number = NEW(cx->arena, int));
        items.at[items.count++] = (PlanItem){ "result", text_format(cx, "%s.%d", owner, (*number)++), s, NULL, -1,
                                              tensor_most_bytes(cx, s->tensor) };
    }
    for (int g = 0; g < b->groups.count; g++)
        for (int i = 0; i < b->lowered.scratch_count[g]; i++) {
            Scratch *s = &b->lowered.scratch[g][i];
            items.at[items.count++] = (PlanItem){ s->copied ? "copy" : "scratch",
                                                  text_format(cx, "%s.%d", b->groups.at[g].name, i), NULL, s, -1,
                                                  s->bytes };
        }
    for (int i = 0; i < p->constant_count; i++)
        if (b->memories.of_constant[i])
            items.at[items.count++] = (PlanItem){ "constant", text_format(cx, "%s.%d", name_identifier(
                                                      cx, p->constant[i]->name), i), NULL, NULL, i,
                                                  tensor_bytes(p->constant[i]) };
    return items;
}

static int memory_of(const PlanItem *x) { return x->root ? x->root->memory : x->scratch->memory; }

const char *build_plan_text(Build *b)
{
    Text t = text_new(b->cx);
    const PlanItems items = items_of(b);
    text_printf(&t, "# " FIRST_LINE ": the places of %s; --keep-plan reads them\n", b->name);
    for (int i = 0; i < items.count; i++) {
        const PlanItem *x = &items.at[i];
        const bool is_constant = !x->root && !x->scratch;
        if (!is_constant && memory_of(x) < 0) continue;
        text_printf(&t, "%s %s %s %lld", x->kind, x->name, is_constant ? b->memories.of_constant[x->constant]->name
                    : b->plan.memory[memory_of(x)].name, (long long)x->bytes);
        if (x->root) text_printf(&t, " %lld %lld", (long long)x->root->offset, (long long)x->root->written);
        if (x->scratch) text_printf(&t, " %lld", (long long)x->scratch->offset);
        if (x->scratch && x->scratch->copied) text_printf(&t, " %d", x->scratch->begins);
        text_char(&t, '\n');
    }
    return text_string(&t);
}

/* ---- The kept file ----------------------------------------------------------------------------------------------- */

typedef struct Line { int number; const char *kind, *name, *memory; int count; int64_t value[MOST_NUMBERS]; } Line;
typedef struct Kept { Build *b; const char *path; Map of; int count; Line *at; } Kept;

static const char *key_of(const Kept *k, const char *kind, const char *name)
{
    return text_format(k->b->cx, "%s %s", kind, name);
}

static const char *next_word(Ctx *cx, const char **at)
{
    const char *s = *at + strspn(*at, " \t\r");
    const size_t length = strcspn(s, " \t\r\n");
    *at = s + length;
    return text_format(cx, "%.*s", (int)length, s);
}

static bool read_number(const char *word, int64_t *to)
{
    int64_t n = 0;
    const char *s = word;
    for (; *s >= '0' && *s <= '9' && n <= INT32_MAX; s++) n = n * 10 + (*s - '0');
    *to = n;
    return *word && !*s;
}

/* Returns the numbers of a line of that kind, or 0 for a kind that does not exist. */
static int numbers_of(const char *kind)
{
    static const struct { const char *kind; int count; } kinds[] = {
        { "result", 3 }, { "scratch", 2 }, { "copy", 3 }, { "constant", 1 } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (text_equal(kinds[i].kind, kind)) return kinds[i].count;
    return 0;
}

static bool read_line(Kept *k, const char *at)
{
    Ctx *cx = k->b->cx;
    Line *line = &k->at[k->count];
    line->kind = next_word(cx, &at);
    line->name = next_word(cx, &at);
    line->memory = next_word(cx, &at);
    line->count = numbers_of(line->kind);
    for (int i = 0; i < line->count; i++)
        if (!read_number(next_word(cx, &at), &line->value[i])) return false;
    const char *key = key_of(k, line->kind, line->name);
    if (!line->count || *next_word(cx, &at) || map_get(&k->of, key, strlen(key))) return false;
    map_put(&k->of, key, strlen(key), line);
    k->count++;
    return true;
}

static bool read_kept(Kept *k)
{
    Ctx *cx = k->b->cx;
    const char *text = file_text(cx, k->path, file_read(cx, k->path));
    if (ctx_failed(cx)) return false;
    if (strncmp(text, "# " FIRST_LINE, strlen("# " FIRST_LINE))) {
        diag_error(cx, k->path, "--keep-plan: the first line is not \"# " FIRST_LINE "\"; use the file NAME.plan that "
                                "--memory writes beside the header");
        return false;
    }
    int lines = 1, number = 1;
    for (const char *s = text; *s; s++) lines += *s == '\n';
    k->at = NEW_ARRAY(cx->arena, Line, lines);
    k->of = map_new(cx->arena);
    for (const char *s = text; *s && !ctx_failed(cx); s += strcspn(s, "\n"), s += *s == '\n', number++) {
        k->at[k->count].number = number;
        if (*s != '#' && *s != '\n' && !read_line(k, s))
            diag_error(cx, text_format(cx, "%s:%d", k->path, number), "--keep-plan: this is not a line of a plan, or "
                       "it repeats an item; use the file that --memory writes");
    }
    return !ctx_failed(cx);
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

static void refuse(const Kept *k, const PlanItem *x, const Line *line, const char *why)
{
    diag_error(k->b->cx, line ? text_format(k->b->cx, "%s:%d", k->path, line->number) : k->path,
               "--keep-plan: %s %s no longer fits: %s; omit --keep-plan to plan again", x->kind, x->name, why);
}

static int ram_named(const Build *b, const char *name)
{
    for (int i = 0; i < b->plan.memory_count; i++)
        if (text_equal(b->plan.memory[i].name, name)) return i;
    return -1;
}

static FirmwareMemory *rom_named(const Build *b, const char *name)
{
    for (int i = 0; i < b->memories.count; i++)
        if (b->memories.at[i].is_rom && text_equal(b->memories.at[i].name, name)) return &b->memories.at[i];
    return NULL;
}

static void set_place(const Kept *k, const PlanItem *x, const Line *line)
{
    Build *b = k->b;
    const int ram = ram_named(b, line->memory);
    const unsigned allowed = x->root ? x->root->allowed : x->scratch ? x->scratch->allowed : 0;
    FirmwareMemory *rom = rom_named(b, line->memory);
    if (x->bytes > line->value[0])
        refuse(k, x, line, text_format(b->cx, "it has %lld bytes, and %lld in the plan", (long long)x->bytes,
                                       (long long)line->value[0]));
    else if (x->constant >= 0 ? !rom : ram < 0 || !(allowed >> ram & 1))
        refuse(k, x, line, text_format(b->cx, "\"%s\" is not a --memory for it", line->memory));
    else if (x->constant >= 0) b->memories.of_constant[x->constant] = rom;
    else if (x->root) {
        x->root->memory = ram;
        x->root->offset = line->value[1];
        x->root->written = line->value[2];
    } else {
        x->scratch->memory = ram;
        x->scratch->offset = line->value[1];
        if (x->scratch->copied) x->scratch->begins = (int)line->value[2];
    }
}

static void set_places(Kept *k, const PlanItems *items)
{
    int used = 0;
    for (int i = 0; i < items->count && !ctx_failed(k->b->cx); i++) {
        const PlanItem *x = &items->at[i];
        const char *key = key_of(k, x->kind, x->name);
        const Line *line = map_get(&k->of, key, strlen(key));
        const bool may_lack = x->scratch && x->scratch->is_optional;
        used += line != NULL;
        if (line) set_place(k, x, line);
        else if (may_lack) x->scratch->memory = -1;
        else refuse(k, x, NULL, "the plan has no place for it");
    }
    for (int i = 0; i < k->count && used < k->count && !ctx_failed(k->b->cx); i++) {
        bool is_known = false;
        for (int j = 0; j < items->count && !is_known; j++)
            is_known = text_equal(items->at[j].kind, k->at[i].kind) && text_equal(items->at[j].name, k->at[i].name);
        if (!is_known)
            diag_error(k->b->cx, text_format(k->b->cx, "%s:%d", k->path, k->at[i].number), "--keep-plan: the model has "
                       "no %s %s; omit --keep-plan to plan again", k->at[i].kind, k->at[i].name);
    }
}

bool build_keep_plan(Build *b)
{
    Kept k = { .b = b, .path = b->options->keep_plan };
    Misfit misfit;
    const PlanItems items = items_of(b);
    if (!read_kept(&k)) return false;
    set_places(&k, &items);
    if (ctx_failed(b->cx)) return false;
    if (plan_keep(b->cx, &b->plan, b->groups.count, b->lowered.scratch, b->lowered.scratch_count, &misfit)) return true;
    for (int i = 0; i < items.count; i++) {
        const char *key = key_of(&k, items.at[i].kind, items.at[i].name);
        if (items.at[i].root ? items.at[i].root == misfit.root
                             : items.at[i].scratch && items.at[i].scratch == misfit.scratch)
            refuse(&k, &items.at[i], map_get(&k.of, key, strlen(key)), misfit.why);
    }
    return false;
}
