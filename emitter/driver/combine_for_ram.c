/* SPDX-License-Identifier: MIT */
/* Combines groups to reduce RAM. The plan states the group at which the most bytes are live. Consider a tensor that is
 * live there and has a single consumer, which reads it row by row. Its producer and its consumer may become one nest
 * with a ring buffer of rows (combine_rows: each row is computed once, in the loops of its strategy). The search
 * combines the pair that saves the most, if it saves a tenth of RAM, and then repeats. If no such pair saves a tenth,
 * and a chain of overlaps needs more than the peak, the search also tries pairs at other groups. `--combine none`
 * disables it.
 *
 * --ram BYTES finds the plan with the fewest counted instructions within a limit of RAM: arena, inputs, outputs and
 * state together. The stages below follow each other until the plan is within the limit. The last stage reaches the
 * smallest plan that the search finds; a model above the limit is refused:
 *
 *   1. every group alone: whole tensors, the fewest instructions;
 *   2. pairs by rows, in rings, as without the option: the first that suffice;
 *   3. joins of chains in one function (combine_join.c), which may compute rows again: for at most 2 percent more
 *      instructions than the first stage, then 15, 50, and without limit.
 *
 * The same stages are then repeated with results that are moved within the arena, out of the way of the next result
 * (graph/plan/offsets.c). The search uses the better of both plans. If neither plan fits, groups whose bytes exceed the
 * limit get forms with smaller buffers (graph/plan/sparing.c), and all stages are repeated.
 *
 * If the operand of a padding is stored in the padding's result, plans that copy the operand are also tried.
 *
 * If two groups have the same peak, one pair cannot lower it: the search then tries a second pair together with the
 * first. */

/* Decision: a limit of RAM is a search that stops early. `--ram` (`emitter/driver/combine_for_ram.c`) begins with the
 * fastest plan, in which no groups are combined. It exchanges instructions for RAM in stages, the cheapest first: pairs
 * by rows, then joins of chains under growing limits of counted instructions. It stops at the first plan within the
 * limit. A join counts as progress if it shrinks the arena, or the bytes above the limit summed over all groups,
 * because two equal peaks can shrink only one after the other.
 *
 * If no stage fits, the groups above the limit get forms with smaller buffers (`graph/plan/sparing.c`), and the stages
 * are repeated. In such a form, a stage that a strategy computes for a row of pixels moves to the loop over tiles,
 * where its own steps are dropped and some elements are computed again. No template has a special case for this; the
 * nest is proved like any other nest. The stages are greedy, so for a low limit they may end above the plan that the
 * search for 0 bytes reaches. Therefore that plan is the fallback, and the smallest plan that a refusal prints; each
 * limit above it is kept.
 *
 * The stages request the same combinations and plans repeatedly, so a search caches the results of `combine_add`, and
 * each plan by its nests. If one more part is attached, the steps of the parts that keep their loops are replayed only
 * once for all attachments. A sweep has a target: the limit, or half of the present arena. It joins only layers that
 * hold more than the target, or much of it in a chain of overlaps, because the many small layers at a network's end
 * cannot lower its peak. The search for the least RAM takes 3 s or less for the recorded networks (`make
 * bench-compiler`). `--optimize` selects what the default search may exchange; `balanced` changes no byte. */

/* Decision: where memory peaks, rows are stored instead of images. No template has a case for it: the two nests are
 * combined.
 *
 *   - The producer keeps its steps and loops. Its outermost loop moves into the consumer's (`compute_at
 *     loops=kept`), and a ring buffer holds the live rows. Each row is computed once.
 *   - The warm-up is a guard (`fold_storage warm=guard`), which lowering turns into the start of the loop: one copy
 *     of the code.
 *   - Loops over several rows at once move unchanged (`schedule/draft/rows.c`): each row group is a function of its
 *     first row. If the consumer takes one row, it takes as many at once.
 *   - An instruction may read a ring buffer if its window never wraps around the end. */
#include "driver/combine_layers.h"

#include "support/text.h"

enum { LEAST_GAIN = 10, MOST_PAIRS = 12, MOST_AT_ONCE = 3, MOST_FOR_PADDING = 16, FREE_SHARE = 100 };

/* Returns true if the plan has a tenth of RAM less. */
static bool saves_enough(const Search *r, const Layers *from, const Layers *to)
{
    return to->plan.arena_size <= from->plan.arena_size - (from->plan.arena_size + r->outside) / LEAST_GAIN;
}

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

/* Returns the only consumer of group i's output, or -1 if there is none, if there are several, or if the output is an
 * output of the model. */
static int only_consumer(const Search *r, const Layers *l, int i)
{
    int consumer = -1;
    if (layers_last_part(&l->at[i]) == r->master) return -1;
    if (l->at[i].group.output_count != 1 || graph_has_output(&r->b->graph, l->at[i].group.output[0])) return -1;
    for (int j = i + 1; j < l->count; j++) {
        if (!layers_reads(l, j, l->at[i].group.output[0])) continue;
        if (consumer >= 0) return -1;
        consumer = j;
    }
    return consumer;
}

static int rising(const int *a, int a_count, const int *b, int b_count, int *out)
{
    int n = 0, i = 0, j = 0;
    while (i < a_count || j < b_count) out[n++] = j == b_count || (i < a_count && a[i] < b[j]) ? a[i++] : b[j++];
    return n;
}

/* Combines group i into the loops of group j; the result replaces group j. Returns false if the schedules do not
 * combine. */
static bool join_layers(Search *r, const Layers *l, int i, int j, Layers *out)
{
    Ctx *cx = r->b->cx;
    Combination c;
    Text explain = text_new(cx);
    int *part = NEW_ARRAY(cx->arena, int, l->at[i].count + l->at[j].count),
        count = rising(l->at[i].part, l->at[i].count, l->at[j].part, l->at[j].count, part);
    bool *is_joined = NEW_ARRAY(cx->arena, bool, l->count);
    if (!combine_rows(&r->whole, part, count, &c)) return false;
    combine_explain(&r->whole, &c, &explain);
    is_joined[i] = true;
    *out = layers_with(r, l, is_joined, j, &c);
    out->explain = text_format(cx, "%s%s", l->explain, text_string(&explain));
    return true;
}

/* Finds the pair with the smallest arena, or returns false. `is_at_peak`: considers only pairs that also lower the live
 * bytes at the present peak. */
static bool best_join(Search *r, const Layers *l, bool is_at_peak, Layers *best)
{
    int peak = 0;
    bool found = false;
    for (int g = 0; g < l->count; g++)
        if (l->plan.live_bytes[g] > l->plan.live_bytes[peak]) peak = g;
    for (int i = 0; i <= (is_at_peak ? peak : l->count - 1); i++) {
        Layers now;
        const int j = layers_stays(r, l, i) ? -1 : only_consumer(r, l, i);
        const bool is_apart = j < (is_at_peak ? peak : 0) || layers_why_not_in(r, l, i, j);
        const Slot *s = is_apart ? NULL : plan_slot(&l->plan, l->at[i].group.output[0]);
        const bool is_part = s && s->root != s->tensor && !l->plan.is_padding[j];
        if (!s || layers_stays(r, l, j) || s->kind != SLOT_ARENA || is_part || !tensor_is_fixed(s->tensor)) continue;
        if (tensor_bytes(s->tensor) * LEAST_GAIN < l->plan.live_bytes[peak] || !join_layers(r, l, i, j, &now)) continue;
        layers_plan(r, &now);
        if (ctx_failed(r->b->cx)) return false;
        if ((is_at_peak && now.plan.live_bytes[j - 1] >= l->plan.live_bytes[peak])
            || (found && now.plan.arena_size >= best->plan.arena_size))
            continue;
        *best = now;
        found = true;
    }
    return found;
}

/* Combines one pair, or a few pairs that together save a tenth of RAM. */
static bool improve(Search *r, Layers *l, bool is_at_peak)
{
    Layers now = *l;
    for (int pairs = 0; pairs < MOST_AT_ONCE; pairs++) {
        Layers next;
        if (!best_join(r, &now, is_at_peak, &next)) return false;
        now = next;
        if (!saves_enough(r, l, &now)) continue;
        now.explain = text_format(r->b->cx, "%sfor an arena of %lld bytes, and not %lld\n", now.explain,
                                  (long long)now.plan.arena_size, (long long)l->plan.arena_size);
        *l = now;
        return true;
    }
    return false;
}

/* If the arena is above the peak, it holds a chain of overlaps whose offsets do not fit below each other; in that case
 * any pair may shorten the chain. */
void layers_save_ram(Search *r, Layers *l, int64_t enough)
{
    for (int pairs = 0; pairs < MOST_PAIRS && l->plan.arena_size > enough; pairs++) {
        const bool is_chain = l->plan.arena_size > l->plan.live_bound;
        if (ctx_failed(r->b->cx) || !(improve(r, l, true) || (is_chain && improve(r, l, false)))) return;
    }
}

static bool has_padding(const Layers *l)
{
    bool any = false;
    for (int i = 0; i < l->count; i++) any = any || l->plan.is_padding[i];
    return any;
}

/* If an operand is stored in its padding, this saves a copy, but the producer then writes a larger tensor. If this
 * costs more than a sixteenth of the arena, or anything with --optimize size, the operand is copied. */
static Layers copies_padding(Search *r, const Layers *apart, const Layers *in_place)
{
    const int64_t arena = in_place->plan.arena_size,
                  more = text_equal(r->b->options->optimize, "size") ? 0 : arena / MOST_FOR_PADDING;
    if (!has_padding(apart)) return *in_place;
    r->b->copies_padding = true;
    Layers copied = layers_apart(r);
    layers_save_ram(r, &copied, 0);
    if (copied.plan.arena_size < arena - more) return copied;
    r->b->copies_padding = false;
    return *in_place;
}

/* Returns true if results of these layers are moved: if this saves a tenth of RAM for at most a hundredth of the
 * counted instructions. */
static bool moves_are_nearly_free(Build *b, const bool *may_join, const Layers *l)
{
    Search counting = layers_search(b, may_join);
    Layers still = *l, moved = *l;
    counting.counts = true;
    layers_plan(&counting, &still);
    b->room = 1;
    layers_plan(&counting, &moved);
    return moved.work - still.work <= still.work / FREE_SHARE;
}

void layers_choose_moves(Search *r, Layers *l)
{
    Build *b = r->b;
    Layers moved = *l;
    if (!l->plan.lead_count || b->memory_count || !layers_are_plain(b)) return;
    b->room = 1;
    layers_plan(r, &moved);
    b->room = 0;
    if (!ctx_failed(b->cx) && saves_enough(r, l, &moved)) b->room = moves_are_nearly_free(b, r->may_join, l);
    if (b->room) *l = moved;
}

void build_combine_for_ram(Build *b)
{
    if (!layers_are_plain(b)) return;
    bool *all = NEW_ARRAY(b->cx->arena, bool, b->groups.count);
    for (int i = 0; i < b->groups.count; i++) all[i] = true;
    Search r = layers_search(b, all);
    const Layers apart = layers_apart(&r);
    Layers l = apart;
    layers_save_ram(&r, &l, 0);
    l = copies_padding(&r, &apart, &l);
    if (!ctx_failed(b->cx)) layers_choose_moves(&r, &l);
    if (ctx_failed(b->cx) || l.count == b->groups.count) return;
    layers_use(b, &l);
    b->combine_text = l.explain;
}

/* ---- A limit of RAM ---------------------------------------------------------------------------------------------- */

/* Returns the bytes of ports and states that are not in the arena. A state counts with two arrays unless
 * `is_planned`. */
static int64_t bytes_beside(Build *b, bool is_planned)
{
    int64_t bytes = 0;
    for (int i = 0; i < b->graph.input_count; i++) {
        const bool is_state = build_state_of_input(b, i) >= 0;
        if (!is_state && !b->options->ports_in_arena) bytes += tensor_most_bytes(b->cx, b->graph.input[i]);
    }
    for (int i = 0; i < b->graph.output_count; i++)
        if (build_state_of_output(b, i) < 0 && !b->options->ports_in_arena)
            bytes += tensor_most_bytes(b->cx, b->graph.output[i]);
    return bytes + build_state_bytes(b, !is_planned);
}

static const char *percents(Ctx *cx, int64_t now, int64_t before)
{
    const double more = before ? 100 * (double)(now - before) / (double)before : 0;
    const long long tenths = (long long)(more * 10 + (more < 0 ? -0.5 : 0.5));
    return text_format(cx, "%s%lld.%lld %%", tenths < 0 ? "-" : "+", (tenths < 0 ? -tenths : tenths) / 10,
                       (tenths < 0 ? -tenths : tenths) % 10);
}

/* Returns the plan's RAM, and the instructions and arena that the search compares. */
static const char *given_up(Build *b, const Layers *l, const Layers *apart)
{
    const char *moves = l->moved ? text_format(b->cx, "; %lld bytes of results are moved in the arena",
                                               (long long)l->moved)
                                 : "";
    return text_format(b->cx, "the plan has an arena of %lld bytes and %lld counted instructions (%s); the fastest, "
                       "every group alone: %lld bytes, %lld instructions%s", (long long)l->plan.arena_size,
                       (long long)l->work, percents(b->cx, l->work, apart->work), (long long)apart->plan.arena_size,
                       (long long)apart->work, moves);
}

/* The stages of --ram. */
static Layers within(Search *r, const Layers *apart, int64_t arena)
{
    static const int percent[] = { 2, 15, 50, 10000 };
    Layers l = *apart;
    layers_save_ram(r, &l, arena);
    for (size_t i = 0; i < sizeof percent / sizeof percent[0] && l.plan.arena_size > arena; i++)
        layers_join_until(r, &l, apart->work, arena, percent[i]);
    return l;
}

/* Returns true if the plan keeps the limit with fewer instructions, or if it is the smaller of two plans that do not
 * keep the limit. */
static bool is_better(const Layers *l, const Layers *other, int64_t arena)
{
    const bool fits = l->plan.arena_size <= arena, other_fits = other->plan.arena_size <= arena;
    return fits != other_fits ? fits : fits ? l->work < other->work : l->plan.arena_size < other->plan.arena_size;
}

/* ---- Forms with smaller buffers ---------------------------------------------------------------------------------- */

/* Gives group i the form with the fewest instructions that keeps the arena on its own. If there is none, or if
 * `is_least`, gives it the form with the fewest bytes. Returns true if the group now has fewer bytes. */
static bool spare_group(Search *r, Layers *l, int i, int64_t arena, bool is_least)
{
    enum { MOST_FORMS = 6 };
    const CombineInput *in = &r->whole;
    const Nest *form[MOST_FORMS];
    const int count = group_sparing_forms(in->cx, &in->groups->at[i], in->target, in->alone[i], in->chosen[i], form,
                                          MOST_FORMS);
    Layers best = *l;
    for (int k = 0; k < count; k++) {
        Layers now = *l;
        now.at = arena_copy(in->cx->arena, l->at, (size_t)l->count * sizeof *l->at);
        now.at[i].nest = form[k];
        layers_plan(r, &now);
        if (ctx_failed(in->cx)) return false;
        const int64_t bytes = now.plan.live_bytes[i], least = best.plan.live_bytes[i];
        const bool fits = !is_least && bytes <= arena, best_fits = !is_least && least <= arena;
        if (fits != best_fits ? fits : fits ? now.work < best.work : bytes < least) best = now;
    }
    const bool is_smaller = best.plan.live_bytes[i] < l->plan.live_bytes[i];
    if (is_smaller) *l = best;
    return is_smaller;
}

/* Spares the parts of each layer of `now` that exceeds the arena: first to keep the arena, then for the fewest bytes.
 * times: [groups]. Returns true if a layer now has fewer bytes. */
static bool spare_layers(Search *r, Layers *alone, const Layers *now, int64_t arena, int *times)
{
    bool is_any = false;
    for (int i = 0; i < now->count && !ctx_failed(r->b->cx); i++)
        for (int k = 0; now->plan.live_bytes[i] > arena && k < now->at[i].count; k++) {
            const int part = now->at[i].part[k];
            if (layers_stays(r, alone, part) || alone->at[part].group.is_scheduled) continue;
            while (times[part] < 2)
                if (spare_group(r, alone, part, arena, times[part]++)) {
                    is_any = true;
                    break;
                }
        }
    return is_any;
}

/* Searches with forms of smaller buffers, which later rounds give to more groups. Stores the result in *l if it is
 * better. */
static void within_sparing(Search *r, const Layers *apart, int64_t arena, Layers *l)
{
    enum { ROUNDS = 3 };
    Build *b = r->b;
    int *times = NEW_ARRAY(b->cx->arena, int, apart->count);
    Layers alone = *apart, now = *l;
    for (int round = 0; round < ROUNDS && l->plan.arena_size > arena; round++) {
        const Nest **nest = NEW_ARRAY(b->cx->arena, const Nest *, apart->count);
        int count = 0;
        if (!spare_layers(r, &alone, &now, arena, times)) return;
        for (int i = 0; i < alone.count; i++) {
            nest[i] = alone.at[i].nest;
            count += nest[i] != apart->at[i].nest;
        }
        Search with = layers_search(b, r->may_join);
        with.counts = true;
        with.whole.alone = nest;
        const Layers from = layers_apart(&with);
        now = within(&with, &from, arena);
        if (ctx_failed(b->cx)) return;
        if (!is_better(&now, l, arena)) continue;
        *l = now;
        l->explain = text_format(b->cx, "%s%d layers have smaller buffers, of which parts are computed again\n",
                                 l->explain, count);
    }
}

/* Runs the stages for an arena in four ways: with operands stored in their paddings, with copied operands, with results
 * that are moved, and with smaller buffers. Each way runs only if the ways before it exceed the arena. The fields of
 * the build are set to the result. */
static Layers stages(Search *r, const Layers *apart, int64_t arena)
{
    Build *b = r->b;
    Layers l = within(r, apart, arena);
    if (l.plan.arena_size > arena && has_padding(apart)) {
        b->copies_padding = true;
        const Layers copied_apart = layers_apart(r), copied = within(r, &copied_apart, arena);
        b->copies_padding = is_better(&copied, &l, arena);
        if (b->copies_padding) l = copied;
    }
    if (l.count < b->groups.count || l.plan.arena_size > arena) {
        const Layers still = l;
        b->room = arena > 0 ? arena : 1;
        const Layers apart_moved = layers_apart(r), moved = within(r, &apart_moved, arena);
        if (is_better(&moved, &l, arena)) l = moved;
        if (l.plan.arena_size > arena) within_sparing(r, &apart_moved, arena, &l);
        if (l.at == still.at) b->room = 0;
    }
    return l;
}

/* A search for an arena is greedy, so it may end above the smallest arena, which the search for 0 bytes reaches.
 * Therefore the plan for 0 bytes is the fallback, and the smallest plan that a refusal prints; each limit above it is
 * kept. */
void build_combine_for_limit(Build *b)
{
    if (!layers_are_plain(b)) return;
    const int64_t beside = bytes_beside(b, false), arena = b->options->ram > beside ? b->options->ram - beside : 0;
    bool *all = NEW_ARRAY(b->cx->arena, bool, b->groups.count);
    for (int i = 0; i < b->groups.count; i++) all[i] = true;
    Search r = layers_search(b, all);
    r.counts = true;
    const Layers apart = layers_apart(&r);
    Layers l = stages(&r, &apart, arena);
    if (arena > 0 && l.plan.arena_size > arena) {
        b->copies_padding = false;
        b->room = 0;
        l = stages(&r, &apart, 0);
    }
    if (ctx_failed(b->cx)) return;
    if (l.at != apart.at) layers_use(b, &l);
    b->combine_text = text_format(b->cx, "%s%s\n", l.explain, given_up(b, &l, &apart));
    if (l.plan.arena_size + beside <= b->options->ram)
        diag_listed(b->cx, NOTE, NULL, "--ram %lld: %lld bytes of RAM; %s", (long long)b->options->ram,
                    (long long)(l.plan.arena_size + beside), given_up(b, &l, &apart));
}

void build_check_ram(Build *b)
{
    const int64_t limit = b->options->ram, beside = limit ? bytes_beside(b, true) : 0;
    const int64_t ram = beside + b->plan.arena_size;
    if (limit && ram > limit)
        diag_error(b->cx, NULL, "--ram %lld: the smallest plan needs %lld bytes: arena %lld, %s %lld",
                   (long long)limit, (long long)ram, (long long)b->plan.arena_size,
                   b->options->ports_in_arena ? "state" : "inputs, outputs and state", (long long)beside);
}
