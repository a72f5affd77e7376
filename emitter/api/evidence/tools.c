/* SPDX-License-Identifier: MIT */
/* Decision: independent tools run from a script of the evidence, not from the compiler. tools.sh runs Frama-C, cppcheck
 * and gcov on model.c and keeps what they print; `loopwright evidence` reads these files if they name the SHA-256 of
 * the model.c that it writes. So the folder depends on the model, the options and the files in it, a proof of many
 * minutes runs once, and a result of another model.c never counts. */
#include <stdlib.h>
#include <string.h>

#include "api/evidence/evidence.h"
#include "cgen/cgen.h"
#include "support/sha256.h"

/* ~ is the name of the model. The commands of the test program follow. */
static const char script[] =
    "#!/bin/sh\n"
    "# Runs the independent tools on ~.c and writes what they print beside it; run `loopwright evidence` again to\n"
    "# read it. `sh tools.sh proof`, `misra` or `coverage` runs one of them. The status is 0 only if each tool ran to\n"
    "# its end and left no goal open. A tool that is missing or fails leaves no result.\n"
    "set -u\n"
    "cd \"$(dirname \"$0\")\" || exit 1\n"
    "work=$(mktemp -d) || exit 1\n"
    "trap 'rm -rf \"$work\"' EXIT\n"
    "[ $# -gt 0 ] || set -- proof misra coverage\n"
    "head_of() { echo \"model $(sha256sum <~.c | cut -d' ' -f1)\"; echo \"tool $1\"; }\n"
    "has() { for tool in \"$@\"; do command -v \"$tool\" >/dev/null || { echo \"$tool is not installed\"; return 1; }; "
    "done; }\n"
    "proof() {\n"
    "    [ -f ~_proof.sh ] || { echo 'these options have no proof'; return 1; }\n"
    "    has frama-c why3 z3 cvc4 || return 1\n"
    "    { head_of \"Frama-C $(frama-c -version)\"; sh ~_proof.sh; } >\"$work/proof.txt\" 2>&1\n"
    "    status=$?\n"
    "    tail -n 1 \"$work/proof.txt\"\n"
    "    grep -q ' goals, .* proved, .* alarms$' \"$work/proof.txt\" || return 1\n"
    "    mv \"$work/proof.txt\" proof.txt && return $status\n"
    "}\n"
    "misra() {\n"
    "    has cppcheck || return 1\n"
    "    cppcheck --quiet --std=c99 --max-configs=1 --enable=style --addon=misra ~.c >\"$work/found\" 2>&1\n"
    "    status=$?\n"
    "    rm -f ~.c.dump ~.c.ctu-info\n"
    "    if [ $status -ne 0 ] || grep -q 'nternalError\\|addon.*failed\\|[Ff]ailed to' \"$work/found\"; then\n"
    "        cat \"$work/found\"\n"
    "        return 1\n"
    "    fi\n"
    "    { head_of \"$(cppcheck --version)\"\n"
    "      sed -n 's/^~\\.c:\\([0-9]*\\):.*\\[misra-c2012-\\([0-9]*\\)\\.\\([0-9]*\\)\\].*/\\2 \\3 \\1/p' \\\n"
    "          \"$work/found\" | sort -u -k 1,1n -k 2,2n -k 3,3n; } >\"$work/misra.txt\"\n"
    "    mv \"$work/misra.txt\" misra.txt\n"
    "}\n"
    "coverage() {\n"
    "    has gcc gcov || return 1\n"
    "    conditions=\n"
    "    gcc -fcondition-coverage -E - </dev/null >/dev/null 2>&1 && conditions=1\n"
    "    cp ~.c ~.h ~_main.c \"$work\" || return 1\n"
    "    here=$PWD\n"
    "    (cd \"$work\" && gcc -std=c99 -O0 --coverage ${conditions:+-fcondition-coverage} -c ~.c -o model.o &&\n"
    "        gcc -std=c99 -O0 -c ~_main.c -o main.o && gcc --coverage model.o main.o -lm -o prog) || return 1\n"
    "    run() {\n"
    "        (cd \"$here\" && \"$work/prog\" \"$@\") >/dev/null || { echo \"$*: the program failed\"; return 1; }\n"
    "    }\n";

static const char script_end[] =
    "    (cd \"$work\" && gcov -b -c ${conditions:+--conditions} -o model.o model.o >/dev/null 2>&1 ||\n"
    "        gcov -b -c model.gcno >/dev/null) || return 1\n"
    "    { head_of \"$(gcov --version | head -n 1)\"; cat \"$work/~.c.gcov\"; } >\"$work/coverage.txt\" || return 1\n"
    "    mv \"$work/coverage.txt\" coverage.txt\n"
    "}\n"
    "failed=0\n"
    "for tool in \"$@\"; do $tool || { echo \"$tool: no result, or open goals\"; failed=1; }; done\n"
    "exit $failed\n";

static void add_with_name(Text *t, const char *text, const char *name)
{
    for (; *text; text++)
        if (*text == '~') text_add(t, name);
        else text_char(t, *text);
}

static void add_script(Evidence *e)
{
    const Program *p = &e->b->program;
    Text t = text_new(e->cx);
    add_with_name(&t, script, p->name);
    for (int i = 0; i < e->vectors.count; i++) {
        text_add(&t, "    run");
        for (int k = 0; k < p->input_count; k++)
            text_printf(&t, " vectors/%s.in_%s.npy", e->vectors.at[i].name, p->input[k].name);
        text_add(&t, " || return 1\n");
    }
    add_with_name(&t, script_end, p->name);
    evidence_text(e, "tools.sh", text_string(&t));
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* The output of a tool for this model.c, with the name of the tool. said is NULL if there is no such output, and `why`
 * is the reason. */
typedef struct Result { const char *tool, *said, *why; } Result;

static const char *word_after(Ctx *cx, const char **line, const char *key)
{
    const size_t n = strlen(key), width = strcspn(*line, "\n");
    if (strncmp(*line, key, n) != 0) return NULL;
    const char *word = text_format(cx, "%.*s", (int)(width - n), *line + n);
    *line += width + ((*line)[width] == '\n');
    return word;
}

static Result result_of(Evidence *e, const char *file)
{
    const char *path = text_format(e->cx, "%s/%s", e->folder, file);
    Result r = { .why = "not run: run `sh tools.sh` in this folder, then `loopwright evidence` again" };
    if (file_size(path) < 0 || file_is_folder(path)) return r;
    const Bytes bytes = file_read(e->cx, path);
    const char *line = (const char *)bytes.at;
    const char *digest = word_after(e->cx, &line, "model ");
    r.tool = word_after(e->cx, &line, "tool ");
    if (digest && r.tool && strcmp(digest, sha256_hex(e->cx, e->source, strlen(e->source))) == 0) {
        r.said = line;
        evidence_file(e, file, bytes.at, bytes.count);
    } else {
        r.why = "not run on this model.c, because the result in this folder is for a different file; run `sh tools.sh`";
    }
    return r;
}

static const char *next_line(const char *s) { return s + strcspn(s, "\n") + (s[strcspn(s, "\n")] == '\n'); }

/* Reads "WHAT: 3 goals, 3 proved, 0 alarms", or the total without WHAT. */
static bool read_goals(const char *line, const char **what, int *width, long count[3])
{
    const char *colon = NULL;
    const char *end = line + strcspn(line, "\n");
    for (const char *s = line; s < end; s++)
        if (s[0] == ':' && s[1] == ' ') colon = s;
    *what = colon ? line : "all";
    *width = colon ? (int)(colon - line) : 3;
    const char *s = colon ? colon + 2 : line;
    static const char *const words[] = { " goals, ", " proved, ", " alarms" };
    for (int i = 0; i < 3; i++) {
        char *after;
        count[i] = strtol(s, &after, 10);
        if (after == s || strncmp(after, words[i], strlen(words[i])) != 0) return false;
        s = after + strlen(words[i]);
    }
    return s == end;
}

static void add_proof(Evidence *e)
{
    const char *without = build_unprovable(e->b), *what;
    const Result r = without ? (Result){ .why = text_format(e->cx, "model.c has no annotations: they exclude %s",
                                                           without) } : result_of(e, "proof.txt");
    Table *t = trace_table(&e->trace, "proof", "Proof by an independent analyser",
                           "The output of NAME_proof.sh: Eva follows the run with the contracts of the layers, and WP "
                           "proves the body of each layer. A goal that is not proved is open.",
                           "part goals proved alarms tool status");
    if (!r.said) {
        for (int i = 0; i < 5; i++) trace_none(t);
        trace_text(t, r.why);
        return;
    }
    for (const char *s = r.said; *s; s = next_line(s)) {
        long count[3];
        int width;
        if (!read_goals(s, &what, &width, count)) continue;
        trace_text(t, text_format(e->cx, "%.*s", width, what));
        for (int i = 0; i < 3; i++) trace_number(t, count[i]);
        trace_text(t, r.tool);
        trace_text(t, count[0] == count[1] && !count[2] ? "proved" : "open");
    }
}

/* ---- Deviations -------------------------------------------------------------------------------------------------- */

static const struct { const char *rules, *subject, *reason; } deviations[] = {
#define DEVIATION(rules, subject, reason) { rules, subject, reason },
#include "api/evidence/deviations.def"
};
enum { DEVIATIONS = sizeof deviations / sizeof deviations[0], SHOWN_LINES = 12 };

/* Returns the row of the rule, or -1: an advisory rule. */
static int deviation_of(Ctx *cx, const char *rule)
{
    for (int i = 0; i < DEVIATIONS; i++)
        if (strstr(text_format(cx, ", %s,", deviations[i].rules), text_format(cx, ", %s,", rule))) return i;
    return -1;
}

/* A line "15 6 120": line 120 breaks rule 15.6. */
typedef struct Breach { long chapter, rule, line; } Breach;
static Breach breach_of(const char *s)
{
    char *at;
    const long chapter = strtol(s, &at, 10), rule = strtol(at, &at, 10);
    return (Breach){ chapter, rule, strtol(at, NULL, 10) };
}

/* Adds the row of the rule whose lines begin at `s`. Returns the first line of another rule. */
static const char *add_deviation(Evidence *e, Table *t, const char *s, const char *tool)
{
    const Breach first = breach_of(s);
    const char *rule = text_format(e->cx, "%ld.%ld", first.chapter, first.rule);
    const int row = deviation_of(e->cx, rule);
    Text lines = text_new(e->cx);
    int count = 0;
    for (; *s; s = next_line(s)) {
        const Breach b = breach_of(s);
        if (b.chapter != first.chapter || b.rule != first.rule) break;
        if (count++ < SHOWN_LINES) trace_item_number(&lines, b.line);
    }
    trace_text(t, rule);
    trace_text(t, row < 0 ? "advisory rule" : deviations[row].subject);
    trace_number(t, count);
    trace_numbers(t, &lines);
    trace_text(t, row < 0 ? "docs/compilers.md lists the advisory rules that emitted C does not meet"
                          : deviations[row].reason);
    trace_text(t, tool);
    return s;
}

static void add_deviations(Evidence *e)
{
    const Result r = result_of(e, "misra.txt");
    Table *t = trace_table(&e->trace, "deviations", "Deviations from MISRA C:2012",
                           "The rules that the addon of cppcheck reports for model.c, with the number of lines, the "
                           "first of them, and the reason of the deviation.", "rule subject count lines reason tool");
    if (!r.said) {
        for (int i = 0; i < 4; i++) trace_none(t);
        trace_text(t, r.why);
        trace_none(t);
    }
    for (const char *s = r.said ? r.said : ""; *s;) s = add_deviation(e, t, s, r.tool);
}

/* ---- Coverage ---------------------------------------------------------------------------------------------------- */

typedef struct Covered {
    const Part *part;
    int lines, executed, branches, taken, conditions, met;
    Text missed;
} Covered;

/* Reads "condition outcomes covered 3/4". */
static void read_conditions(Covered *c, const char *line)
{
    static const char key[] = "condition outcomes covered ";
    char *slash;
    if (strncmp(line, key, sizeof key - 1) != 0) return;
    c->met += (int)strtol(line + sizeof key - 1, &slash, 10);
    if (*slash == '/') c->conditions += (int)strtol(slash + 1, NULL, 10);
}

static void read_branch(Covered *c, const char *line)
{
    const char *end = line + strcspn(line, "\n"), *taken = strstr(line, "taken ");
    if (strncmp(line, "branch ", 7) != 0) return;
    c->branches++;
    c->taken += taken && taken < end && strtol(taken + 6, NULL, 10) > 0;
}

/* Reads "    12:   34:    text" with the executions of line 34, or "#####" if there were none. Returns the line's
 * number, or 0. */
static int read_count(Covered *c, const char *line, int within)
{
    const char *number = strchr(line, ':');
    if (!number || number > line + strcspn(line, "\n")) return within;
    char *after;
    const long at = strtol(number + 1, &after, 10);
    if (*after != ':') return within;
    const char *count = line + strspn(line, " ");
    if (at < c->part->name_line || at > c->part->last_line || *count == '-') return (int)at;
    c->lines++;
    if (*count == '#' || *count == '=') trace_item_number(&c->missed, at);
    else c->executed++;
    return (int)at;
}

static Covered covered(Evidence *e, const Part *p, const char *said)
{
    Covered c = { .part = p, .missed = text_new(e->cx) };
    int at = 0;
    for (const char *s = said; *s; s = next_line(s)) {
        at = read_count(&c, s, at);
        if (at < p->name_line || at > p->last_line) continue;
        read_branch(&c, s);
        read_conditions(&c, s);
    }
    return c;
}

static void add_coverage(Evidence *e)
{
    const Result r = result_of(e, "coverage.txt");
    Table *t = trace_table(&e->trace, "coverage", "Coverage by the vectors",
                           "What gcov counts while the test program runs all vectors: lines with code, branches, and "
                           "the outcomes of conditions (MC/DC, of gcc 14 or later). coverage.txt has each line. "
                           "Functions without executed lines belong to no layer that runs.",
                           "function lines executed branches taken conditions met missed_lines tool");
    if (!r.said) {
        trace_none(t);
        for (int i = 0; i < 7; i++) trace_none(t);
        trace_text(t, r.why);
    }
    for (int i = 0; i < e->parts.count && r.said; i++) {
        if (e->parts.at[i].is_constant) continue;
        Covered c = covered(e, &e->parts.at[i], r.said);
        trace_text(t, c.part->name);
        trace_number(t, c.lines);
        trace_number(t, c.executed);
        trace_number(t, c.branches);
        trace_number(t, c.taken);
        trace_known(t, c.conditions ? c.conditions : -1);
        trace_known(t, c.conditions ? c.met : -1);
        trace_numbers(t, &c.missed);
        trace_text(t, r.tool);
    }
}

void evidence_tools(Evidence *e)
{
    add_script(e);
    add_proof(e);
    add_deviations(e);
    add_coverage(e);
}
