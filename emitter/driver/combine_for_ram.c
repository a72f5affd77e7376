/* SPDX-License-Identifier: MIT */
/* Combines groups to reduce RAM: without an option, and for --ram. The plan states the group at which the most bytes
 * are live. Consider a tensor that is live at this point and has a single consumer, which reads it row by row. The
 * tensor's producer and its consumer may become one nest with a ring buffer of rows: a pair (combine_search.c).
 * `--combine none` disables it. If the operand of a padding is stored in the padding's result, plans that copy the
 * operand are also tried. Last, results are moved within the arena, out of the way of the next result
 * (graph/plan/offsets.c), where that is nearly free.
 *
 * --ram BYTES finds the plan with the fewest counted instructions within a limit of RAM: arena, inputs, outputs and
 * state together. The search begins with every group alone: whole tensors, the fewest instructions. Pairs follow, and
 * then joins of chains in one function, which may compute rows again. The same moves are tried with copied operands of
 * paddings and with results that are moved; the better plan counts. If no plan fits, groups whose bytes exceed the
 * limit get forms with smaller buffers (graph/plan/sparing.c), and all moves are repeated. A model above the smallest
 * plan is refused. */

/* Decision: a limit of RAM is a search that stops early. `--ram` (`emitter/driver/combine_for_ram.c`) begins with the
 * fastest plan, in which no groups are combined. The search exchanges instructions for RAM, the cheapest moves first:
 * pairs by rows, then joins of chains for at most a share of the counted instructions, which doubles. The search stops
 * at the first plan within the limit. A join counts as progress if it shrinks the arena, or if it lowers the sum over
 * all groups of the bytes above the limit. The sum is needed because two equal peaks can shrink only one after the
 * other.
 *
 * If no plan fits, the groups above the limit get forms with smaller buffers (`graph/plan/sparing.c`), and the moves
 * are repeated. In such a form, a stage that a strategy computes for a row of pixels moves to the loop over tiles,
 * where its own steps are dropped and some elements are computed again. No template has a special case for this; the
 * nest is proved like any other nest. The search is greedy, so for a low limit they may end above the plan that the
 * search for 0 bytes reaches. Therefore that plan is the fallback, and the smallest plan that a refusal prints; each
 * limit above it is kept.
 *
 * The moves request the same combinations and plans repeatedly, so a search caches the results of `combine_add`, and
 * each plan by its nests. If one more part is attached, the steps of the parts that keep their loops are replayed only
 * once for all attachments. A sweep has a target: the limit, or half of the present arena. A sweep joins only layers
 * that hold more than the target, or much of it in a chain of overlaps, because the many small layers at a network's
 * end cannot lower its peak. The search for the least RAM takes 3 s or less for the recorded networks (`make
 * bench-compiler`). `--optimize` selects the costs that the default search may increase; with `balanced`, no byte
 * changes. */

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

/* An operand in its padding saves a copy, which may cost at most a sixteenth of the arena. */
enum { PADDING_SHARE = 16 };

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
                  more = text_equal(r->b->options->optimize, "size") ? 0 : arena / PADDING_SHARE;
    if (!has_padding(apart)) return *in_place;
    Layers copied = layers_apart(r, true, 0);
    layers_pair(r, &copied, 0);
    return copied.plan.arena_size < arena - more ? copied : *in_place;
}

Layers layers_default(Search *r, const Layers *apart)
{
    Layers l = *apart;
    layers_pair(r, &l, 0);
    l = copies_padding(r, apart, &l);
    layers_move_results(r, &l);
    return l;
}

void build_combine_for_ram(Build *b)
{
    if (!layers_are_plain(b)) return;
    bool *all = NEW_ARRAY(b->cx->arena, bool, b->groups.count);
    for (int i = 0; i < b->groups.count; i++) all[i] = true;
    Search r = layers_search(b, all);
    const Layers apart = layers_apart(&r, false, 0), l = layers_default(&r, &apart);
    if (ctx_failed(b->cx)) return;
    if (l.count < b->groups.count) b->scheduled.combine_text = l.explain;
    layers_use(b, &l);
}

/* ---- A limit of RAM ---------------------------------------------------------------------------------------------- */

static const char *percents(Ctx *cx, int64_t now, int64_t before)
{
    const double more = before ? 100 * (double)(now - before) / (double)before : 0;
    const long long tenths = (long long)(more * 10 + (more < 0 ? -0.5 : 0.5));
    return text_format(cx, "%s%lld.%lld %%", tenths < 0 ? "-" : "+", (tenths < 0 ? -tenths : tenths) / 10,
                       (tenths < 0 ? -tenths : tenths) % 10);
}

/* Returns the plan's RAM, and the instructions and arena that the search compares. */
static const char *given_up(const Build *b, const Layers *l, const Layers *apart)
{
    const char *moves = l->moved ? text_format(b->cx, "; %lld bytes of results are moved in the arena",
                                               (long long)l->moved)
                                 : "";
    return text_format(b->cx, "the plan has an arena of %lld bytes and %lld counted instructions (%s); the fastest "
                              "plan, in which no groups are combined, needs %lld bytes and %lld "
                              "instructions%s", (long long)l->plan.arena_size,
                       (long long)l->work, percents(b->cx, l->work, apart->work), (long long)apart->plan.arena_size,
                       (long long)apart->work, moves);
}

static Layers within(Search *r, const Layers *apart, int64_t arena)
{
    Layers l = *apart;
    layers_pair(r, &l, arena);
    layers_join_until(r, &l, apart->work, arena);
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

/* Reduces the work of each layer of `now` that exceeds the arena: first within the arena, then for the fewest bytes.
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
        const Layers from = layers_apart(&with, apart->copies_padding, apart->room);
        now = within(&with, &from, arena);
        if (ctx_failed(b->cx)) return;
        if (!is_better(&now, l, arena)) continue;
        *l = now;
        l->explain = text_format(b->cx, "%s%d layers have smaller buffers, of which parts are computed again\n",
                                 l->explain, count);
    }
}

/* Searches for an arena in four ways: with operands stored in their paddings, with copied operands, with results that
 * are moved, and with smaller buffers. Each method runs only if the plans of the methods before it exceed the arena;
 * results are also moved if this keeps layers separate. */
static Layers search_for(Search *r, const Layers *apart, int64_t arena)
{
    Layers l = within(r, apart, arena);
    if (l.plan.arena_size > arena && has_padding(apart)) {
        const Layers copied_apart = layers_apart(r, true, 0), copied = within(r, &copied_apart, arena);
        if (is_better(&copied, &l, arena)) l = copied;
    }
    if (l.count == apart->count && l.plan.arena_size <= arena) return l;
    if (build_rams(r->b) > 1) return l;                  /* results are moved within one arena */
    const Layers apart_moved = layers_apart(r, l.copies_padding, arena > 0 ? arena : 1),
                 moved = within(r, &apart_moved, arena);
    if (is_better(&moved, &l, arena)) l = moved;
    if (l.plan.arena_size > arena) within_sparing(r, &apart_moved, arena, &l);
    return l;
}

/* A search for an arena is greedy, so its result may exceed the smallest arena, which a search for 0 bytes reaches.
 * Therefore the plan for 0 bytes is the fallback, and the smallest plan that a refusal prints; each limit above it is
 * kept. */
void build_combine_for_limit(Build *b)
{
    if (!layers_are_plain(b)) return;
    const int64_t beside = build_bytes_beside(b, false), arena = build_arena_limit(b);
    bool *all = NEW_ARRAY(b->cx->arena, bool, b->groups.count);
    for (int i = 0; i < b->groups.count; i++) all[i] = true;
    Search r = layers_search(b, all);
    r.counts = true;
    const Layers apart = layers_apart(&r, false, 0);
    Layers l = search_for(&r, &apart, arena);
    if (arena > 0 && l.plan.arena_size > arena) l = search_for(&r, &apart, 0);
    if (ctx_failed(b->cx)) return;
    layers_use(b, &l);
    b->scheduled.combine_text = text_format(b->cx, "%s%s\n", l.explain, given_up(b, &l, &apart));
    if (l.plan.arena_size + beside <= b->options->ram && build_rams(b) < 2)
        diag_listed(b->cx, NOTE, NULL, "--ram %lld is kept with %lld bytes of RAM; %s",
                    (long long)b->options->ram,
                    (long long)(l.plan.arena_size + beside), given_up(b, &l, &apart));
}

void build_check_ram(const Build *b)
{
    const int64_t limit = b->options->ram, beside = limit ? build_bytes_beside(b, true) : 0;
    const int64_t ram = beside + b->plan.arena_size;
    if (limit && ram > limit)
        diag_error(b->cx, NULL, "--ram %lld: the smallest plan needs %lld bytes: arena %lld, %s %lld",
                   (long long)limit, (long long)ram, (long long)b->plan.arena_size,
                   b->options->ports_in_arena ? "state" : "inputs, outputs and state", (long long)beside);
}
