/* SPDX-License-Identifier: MIT */
/* The checker on handwritten nests. Correct nests are proved; every fault is refused with a sentence that names the
 * stage, loop or tensor. The interpreter is the oracle: a proved nest gives the evaluator's values; a nest
 * called wrong gives other values or stops. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "context/context.h"
#include "ir/algebra/algebra.h"
#include "ir/check/check.h"
#include "ir/text/formula.h"
#include "ir/interpret/interpret.h"

typedef struct Case { const char *name; Verdict verdict; const char *says; const char *program, *loops; } Case;

/* ---- Programs -------------------------------------------------------------------------------------------------- */

#define DOUBLE "nest t\ninput x: i32[10]\nstage y[i<10] = x[i] * 2\noutput y\nloops\n"
#define SUM "nest t\ninput x: i32[6][10]\nstage y[i<6] = sum(r<10) x[i, r]\noutput y\nloops\n"
#define FIRST "nest t\ninput x: i32[6][10]\ninput z: i32[6]\nstage a[i<6] = z[i] + 1\n" \
    "stage y[i<6] = sum(r<10; a[i]) x[i, r]\noutput y\nloops\n"
#define TWO "nest t\ninput x: i32[12]\nstage a[i<12] = x[i] + 1\nstage b[i<12] = a[i] * 3\noutput b\nloops\n"
#define BLUR "nest t\ninput x: i32[12]\nstage a[i<12] = x[i] + 1\n" \
    "stage b[i<10] = a[i] + a[i+1] + a[i+2]\noutput b\nloops\n"
#define FALLING "nest t\ninput x: i32[12]\nstage a[i<12] = x[i] + 1\n" \
    "stage b[i<10] = a[11-i] + a[10-i] + a[9-i]\noutput b\nloops\n"
#define UNEVEN "nest t\ninput x: i32[7]\nstage a[i<7] = x[i] + 1\n" \
    "stage b[i<12] = a[i/2] + a[i/2+1]\noutput b\nloops\n"
#define LATER "nest t\ninput x: i32[9][6]\nstage a[i<9, j<6] = x[i, j] + 1\n" \
    "stage b[i<6, j<6] = select(0 <= i - 1, a[i-1, j], 0)\noutput b\nloops\n"
#define STRIDED "nest t\ninput x: i32[11]\nstage a[i<11] = x[i] + 1\n" \
    "stage b[i<5] = max(r<3) a[i*2+r]\noutput b\nloops\n"
#define PADDED "nest t\ninput x: i32[8]\nstage a[i<8] = x[i] * 5\n" \
    "stage b[i<8] = sum(r<3) select(0 <= i + r - 1 && i + r - 1 < 8, a[i+r-1], 7)\noutput b\nloops\n"
#define PREFIX "nest t\ninput x: i32[6]\nstage a[i<6] = x[i] + 1\n" \
    "stage b[i<6] = sum(r<6) select(r <= i, a[r], 0)\noutput b\nloops\n"
#define CHAIN "nest t\ninput x: i32[6][8]\nstage s[i<6] = sum(r<8) x[i, r]\nstage t[i<6] = s[i] - 1\noutput t\nloops\n"
#define SIZED "nest t\nsize n in 1..9\ninput x: i32[n]\nstage a[i<n] = x[i] + 1\n" \
    "stage b[i<n] = a[i] * 3\noutput b\nloops\n"
#define FLOATS "nest t\ninput x: f32[4][6][9]\nstage y[i<4] = sum(r<6, q<9) x[i, r, q]\noutput y\nloops\n"
#define MATRIX "nest t\ninput x: i32[4][6]\nstage y[i<4, j<6] = x[i, j] + 1\noutput y\nloops\n"

static const Case cases[] = {
    /* Right. */
    { "split-with-guard", PROVED, NULL, DOUBLE,
      "  for y.io < 3\n    for y.ii < 4\n      block y[i=io*4+ii] if io * 4 + ii < 10\n" },
    { "peeled-tail", PROVED, NULL, DOUBLE,
      "  for y.io < 2\n    for y.ii < 4\n      block y[i=io*4+ii]\n  for y@tail.i < 2\n    block y@tail[i=i+8]\n" },
    { "shifted-tail", PROVED, NULL, DOUBLE, "  for y.io < 3\n    for y.ii < 4\n      block y[i=min(io*4, 6)+ii]\n" },
    { "fused-and-split", PROVED, NULL, MATRIX,
      "  for y.fo < 5\n    for y.fi < 5\n      block y[i=(fo*5+fi)/6, j=(fo*5+fi)%6] if fo * 5 + fi < 24\n" },
    { "reduce-loop-outside", PROVED, NULL, SUM, "  for y.r < 10\n    for y.i < 6\n      block y[i=i, r=r]\n" },
    { "reduce-peeled", PROVED, NULL, SUM,
      "  for y.i < 6\n    for y.r < 8\n      block y[i=i, r=r]\n    for y@tail.r < 2\n      block y@tail[i=i, "
      "r=r+8]\n" },
    { "reduce-fused-with-data", PROVED, NULL, SUM, "  for y.f < 60\n    block y[i=f/10, r=f%10]\n" },
    { "floats-in-tiles-with-data-between", PROVED, NULL, FLOATS,
      "  for y.r < 6\n    for y.qo < 3\n      for y.i < 4\n        for y.qi < 4\n"
      "          block y[i=i, r=r, q=qo*4+qi] if qo * 4 + qi < 9\n" },
    { "floats-fused-with-data-and-split", PROVED, NULL, FLOATS,
      "  for y.fo < 27\n    for y.fi < 8\n      block y[i=(fo*8+fi)/54, r=(fo*8+fi)/9%6, q=(fo*8+fi)%9]\n" },
    { "floats-peeled-in-a-loop", PROVED, NULL, FLOATS,
      "  for y.i < 4\n    for y.r < 6\n      for y.q < 4\n        block y[i=i, r=r, q=q]\n"
      "      for y@tail.q < 5\n        block y@tail[i=i, r=r, q=q+4]\n" },
    { "init-apart", PROVED, NULL, SUM,
      "  for y@init.i < 6\n    block init y@init[i=i]\n  for y.r < 10\n    for y.i < 6\n      block update y[i=i, "
      "r=r]\n" },
    { "init-in-data-loop", PROVED, NULL, SUM,
      "  for y.i < 6\n    block init y@init[i=i]\n    for y.r < 10\n      block update y[i=i, r=r]\n" },
    { "shifted-tail-of-reduction", PROVED, NULL, SUM,
      "  for y.io < 2\n    for y.ii < 4\n      for y.r < 10\n        block y[i=min(io*4, 2)+ii, r=r]\n" },
    { "shifted-tails-of-both-axes", PROVED, NULL, MATRIX,
      "  for y.io < 2\n    for y.ii < 3\n      for y.jo < 2\n        for y.ji < 4\n"
      "          block y[i=min(io*3, 1)+ii, j=min(jo*4, 2)+ji]\n" },
    { "shifted-tail-in-a-shifted-tail", PROVED, NULL, DOUBLE,
      "  for y.o < 2\n    for y.m < 2\n      for y.i < 4\n        block y[i=min(o*6, 4)+min(m*4, 2)+i]\n" },
    { "remainder-in-each-tile", PROVED, NULL, SUM,
      "  for y.io < 2\n    for y.ii < 2\n      for y.r < 10\n        block y[i=io*3+ii, r=r]\n"
      "    for y@tail.r < 10\n      block y@tail[i=io*3+2, r=r]\n" },
    { "computed-at", PROVED, NULL, TWO, "  for b.i < 12\n    alloc a stack\n      block a[i=i]\n      block b[i=i]\n" },
    { "computed-at-tile-with-guard", PROVED, NULL, TWO,
      "  for b.io < 3\n    alloc a stack\n      for a.i < 5\n        block a[i=io*5+a.i] if io * 5 + a.i < 12\n      "
      "for b.ii < 5\n        block b[i=io*5+ii] if io * 5 + ii < 12\n" },
    { "halo-made-again", PROVED, NULL, BLUR,
      "  for b.i < 10\n    alloc a stack\n      for a.i < 3\n        block a[i=b.i+a.i]\n      block b[i=b.i]\n" },
    { "halo-stored-outside", PROVED, NULL, BLUR,
      "  alloc a arena\n    for b.i < 10\n      for a.i < 3\n        block a[i=b.i+a.i]\n      block b[i=b.i]\n" },
    { "falling-rows-in-a-ring", PROVED, NULL, FALLING,
      "  alloc a arena ring(i)=3\n    for a@warm.i < 2\n      block a@warm[i=i+10]\n    for b.i < 10\n"
      "      block a[i=9-i]\n      block b[i=i]\n" },
    { "uneven-rows-in-a-ring", PROVED, NULL, UNEVEN,
      "  alloc a arena ring(i)=2\n    for a@warm.i < 1\n      block a@warm[i=i]\n    for b.i < 12\n"
      "      for a.i < i / 2 - (i - 1) / 2\n        block a[i=a.i+(b.i-1)/2+2]\n      block b[i=i]\n" },
    { "halo-in-a-ring", PROVED, NULL, BLUR,
      "  alloc a arena ring(i)=3\n    for b.i < 10\n      for a.i < 3\n        block a[i=b.i+a.i]\n      block "
      "b[i=b.i]\n" },
    { "sliding-with-warm-up", PROVED, NULL, BLUR,
      "  alloc a arena ring(i)=3\n    for a@warm.i < 2\n      block a@warm[i=i]\n    for b.i < 10\n      block "
      "a[i=b.i+2]\n      block b[i=b.i]\n" },
    { "sliding-by-stride", PROVED, NULL, STRIDED,
      "  alloc a arena ring(i)=3\n    block a@warm[i=0]\n    for b.i < 5\n      for a.i < 2\n        block "
      "a[i=b.i*2+1+a.i]\n      for b.r < 3\n        block b[i=b.i, r=r]\n" },
    { "padding-cuts-the-need", PROVED, NULL, PADDED,
      "  for b.i < 8\n    alloc a stack\n      for a.i < 3\n        block a[i=b.i-1+a.i] if 0 <= b.i - 1 + a.i && b.i "
      "- 1 + a.i < 8\n      for b.r < 3\n        block b[i=b.i, r=r]\n" },
    { "prefix-carried", PROVED, NULL, PREFIX,
      "  alloc a arena\n    for b.i < 6\n      block a[i=i]\n      for b.r < 6\n        block b[i=i, r=r]\n" },
    { "reader-in-the-maker's-loop", PROVED, NULL, CHAIN,
      "  for s.i < 6\n    alloc s stack\n      for s.r < 8\n        block s[i=i, r=r]\n      block t[i=i]\n" },
    { "parallel-tile-with-own-storage", PROVED, NULL, BLUR,
      "  for b.io < 5 parallel\n    alloc a stack\n      for a.i < 4\n        block a[i=io*2+a.i]\n      for b.ii < "
      "2\n        block b[i=io*2+ii]\n" },
    { "parallel-makes-disjoint-tiles", PROVED, NULL, TWO,
      "  alloc a arena\n    for b.io < 3 parallel\n      for a.i < 4\n        block a[i=io*4+a.i]\n      for b.ii < "
      "4\n        block b[i=io*4+ii]\n" },
    { "vector-and-unrolled", PROVED, NULL, MATRIX,
      "  for y.i < 4 unrolled\n    for y.jo < 2\n      for y.ji < 3 vector\n        block y[i=i, j=jo*3+ji]\n" },
    { "sizes-with-guard", PROVED, NULL, SIZED,
      "  for b.io < (n + 3) / 4\n    alloc a stack\n      for a.i < 4\n        block a[i=io*4+a.i] if io * 4 + a.i < "
      "n\n      for b.ii < 4\n        block b[i=io*4+ii] if io * 4 + ii < n\n" },
    { "two-ways-by-size", PROVED, NULL, SIZED,
      "  alloc a arena\n    for a.i < n\n      block a[i=i]\n    if n % 2 == 0\n      for b.io < n / 2\n        for "
      "b.ii < 2\n          block b[i=io*2+ii]\n    else\n      for b@odd.i < n\n        block b@odd[i=i]\n" },

    /* I1 */
    { "I1-gap", UNPROVED, "y", DOUBLE,
      "  for y.io < 3\n    for y.ii < 3\n      block y[i=io*4+ii] if io * 4 + ii < 10\n" },
    { "I1-adds-twice", UNPROVED, "y", SUM,
      "  for y.again < 2\n    for y.r < 10\n      for y.i < 6\n        block y[i=i, r=(r+again)%10]\n" },
    { "I1-loop-for-nothing", WRONG, "y.again adds the same points", SUM,
      "  for y.i < 6\n    for y.r < 10\n      for y.again < 2\n        block y[i=i, r=r]\n" },
    { "I1-reduction-cut-short", WRONG, "reduce axis r", SUM,
      "  for y.i < 6\n    for y.r < 9\n      block y[i=i, r=r]\n" },
    { "I1-copies-overlap", UNPROVED, "y", SUM,
      "  for y.i < 6\n    for y.r < 8\n      block y[i=i, r=r]\n    for y@tail.r < 3\n      block y@tail[i=i, "
      "r=r+7]\n" },
    { "I1-shifted-reduction", WRONG, "shifted tail of the loop ro adds", SUM,
      "  for y.i < 6\n    for y.ro < 3\n      for y.ri < 4\n        block y[i=i, r=min(ro*4, 6)+ri]\n" },
    { "I1-shifted-loop-as-an-index-too", UNPROVED, "not a digit", MATRIX,
      "  for y.io < 2\n    for y.ii < 3\n      block y[i=min(io*3, 1)+ii, j=io]\n" },
    { "I1-shifted-tail-with-a-gap", UNPROVED, "contiguous", DOUBLE,
      "  for y.o < 2\n    for y.m < 2\n      for y.i < 2\n        block y[i=min(o*6, 4)+min(m*3, 2)+i]\n" },
    { "I1-shifted-tail-without-its-init", UNPROVED, "outside that loop", SUM,
      "  for y@init.i < 6\n    block init y@init[i=i]\n  for y.io < 2\n    for y.ii < 4\n      for y.r < 10\n"
      "        block update y[i=min(io*4, 2)+ii, r=r]\n" },
    { "I1-remainder-of-another-tile", UNPROVED, "y", SUM,
      "  for y.io < 2\n    for y.ii < 2\n      for y.r < 10\n        block y[i=io*3+ii, r=r]\n"
      "    for y@tail.r < 10\n      block y@tail[i=io*3+1, r=r]\n" },
    { "I1-remainder-of-some-tiles", UNPROVED, "y", SUM,
      "  for y.io < 2\n    for y.ii < 2\n      for y.r < 10\n        block y[i=io*3+ii, r=r]\n"
      "  for y@tail.r < 10\n    block y@tail[i=2, r=r]\n" },
    { "I1-reduce-loop-around-shifted-tail", WRONG, "y.r", SUM,
      "  for y.r < 10\n    for y.io < 2\n      for y.ii < 4\n        block y[i=min(io*4, 2)+ii, r=r]\n" },

    /* I2 */
    { "I2-init-last", WRONG, "y@init", SUM,
      "  for y.r < 10\n    for y.i < 6\n      block update y[i=i, r=r]\n  for y@init.i < 6\n    block init "
      "y@init[i=i]\n" },
    { "I2-no-init", WRONG, "initialises \"y\"", SUM,
      "  for y.i < 6\n    for y.r < 10\n      block update y[i=i, r=r]\n" },
    { "I2-init-in-reduce-loop", UNPROVED, "y@init", SUM,
      "  for y.r < 10\n    for y.i < 6\n      block init y@init[i=i]\n      block update y[i=i, r=r]\n" },
    { "I2-tail-first", WRONG, "y@tail", SUM,
      "  for y.i < 6\n    for y@tail.r < 2\n      block y@tail[i=i, r=r+8]\n    for y.r < 8\n      block y[i=i, "
      "r=r]\n" },
    { "I2-init-of-a-part", UNPROVED, "y@init", SUM,
      "  for y@init.i < 5\n    block init y@init[i=i]\n  for y.i < 6\n    for y.r < 10\n      block update y[i=i, "
      "r=r]\n" },

    /* I13 */
    { "I13-reduce-loops-exchanged", UNPROVED, "in the order of the reduce axes of y", FLOATS,
      "  for y.i < 4\n    for y.q < 9\n      for y.r < 6\n        block y[i=i, r=r, q=q]\n" },
    { "I13-inner-tile-outside", UNPROVED, "y.qi", FLOATS,
      "  for y.i < 4\n    for y.r < 6\n      for y.qi < 4\n        for y.qo < 3\n"
      "          block y[i=i, r=r, q=qo*4+qi] if qo * 4 + qi < 9\n" },
    { "I13-tile-around-another-axis", UNPROVED, "y.qo", FLOATS,
      "  for y.i < 4\n    for y.qo < 3\n      for y.r < 6\n        for y.qi < 3\n"
      "          block y[i=i, r=r, q=qo*3+qi]\n" },
    { "I13-backwards", UNPROVED, "y.q", FLOATS,
      "  for y.i < 4\n    for y.r < 6\n      for y.q < 9\n        block y[i=i, r=r, q=8-q]\n" },
    { "I13-copies-of-inner-axis-in-loops-of-their-own", UNPROVED, "y@tail", FLOATS,
      "  for y.i < 4\n    for y.r < 6\n      for y.q < 4\n        block y[i=i, r=r, q=q]\n"
      "    for y@tail.r < 6\n      for y@tail.q < 5\n        block y@tail[i=i, r=r, q=q+4]\n" },

    /* I3 */
    { "I3-reader-first", WRONG, "b reads \"a\" before", TWO,
      "  alloc a arena\n    for b.i < 12\n      block b[i=i]\n    for a.i < 12\n      block a[i=i]\n" },
    { "I3-reader-first-in-the-loop", UNPROVED, "b reads \"a\"", TWO,
      "  alloc a arena\n    for b.i < 12\n      block b[i=i]\n      block a[i=i]\n" },
    { "I3-made-too-little", UNPROVED, "b reads \"a\"", BLUR,
      "  for b.i < 10\n    alloc a stack\n      for a.i < 2\n        block a[i=b.i+a.i]\n      block b[i=b.i]\n" },
    { "I3-no-warm-up", UNPROVED, "below the range of the first iteration of b.i", BLUR,
      "  alloc a arena\n    for b.i < 10\n      block a[i=b.i+2]\n      block b[i=b.i]\n" },
    { "I3-reduction-not-finished", UNPROVED, "t reads \"s\"", CHAIN,
      "  alloc s arena\n    for s.r < 8\n      for s.i < 6\n        block s[i=i, r=r]\n      for t.i < 6\n        "
      "block t[i=i]\n" },
    { "I3-tile-cut-too-early", UNPROVED, "b reads \"a\"", TWO,
      "  for b.io < 3\n    alloc a stack\n      for a.i < 5\n        block a[i=io*5+a.i] if io * 5 + a.i < 11\n      "
      "for b.ii < 5\n        block b[i=io*5+ii] if io * 5 + ii < 12\n" },

    /* I4 */
    { "I4-storage-in-reduce-loop", WRONG, "reduce loop s.r", CHAIN,
      "  for s.r < 8\n    alloc s arena\n      for s.i < 6\n        block s[i=i, r=r]\n      for t.i < 6\n        "
      "block t[i=i]\n" },
    { "I4-storage-in-carrying-loop", WRONG, "the loop b.i, which carries it", PREFIX,
      "  for b.i < 6\n    alloc a stack\n      block a[i=i]\n      for b.r < 6\n        block b[i=i, r=r]\n" },
    { "I4-reader-outside", WRONG, "b reads \"a\" outside", TWO,
      "  alloc a arena\n    for a.i < 12\n      block a[i=i]\n  alloc a arena\n    for b.i < 12\n      block "
      "b[i=i]\n" },
    { "I3-init-before-its-first-values", WRONG, "before a computes it", FIRST,
      "  alloc a arena\n    for y@init.i < 6\n      block init y@init[i=i]\n    for a.i < 6\n      block a[i=i]\n"
      "    for y.r < 10\n      for y.i < 6\n        block update y[i=i, r=r]\n" },
    { "I3-what-a-condition-hides-in-the-first-iteration", UNPROVED, "not shown to have computed it", LATER,
      "  alloc a arena\n    for b.i < 6\n      for b.jo < 1\n        for b.j < 6\n"
      "          block a[i=max(i-1,0)+1, j=j]\n          block b[i=i, j=j]\n" },
    { "I3-falling-without-the-first-rows", UNPROVED, "not shown to have computed it", FALLING,
      "  alloc a arena ring(i)=3\n    for a@warm.i < 2\n      block a@warm[i=i+9]\n    for b.i < 10\n"
      "      block a[i=9-i]\n      block b[i=i]\n" },
    { "I3-falling-with-gaps", UNPROVED, "leave gaps", FALLING,
      "  alloc a arena\n    for b.i < 5\n      block a[i=9-i*2]\n      block b[i=i]\n" },
    { "I4-falling-ring-too-short", UNPROVED, "ring of 2", FALLING,
      "  alloc a arena ring(i)=2\n    for a@warm.i < 2\n      block a@warm[i=i+10]\n    for b.i < 10\n"
      "      block a[i=9-i]\n      block b[i=i]\n" },
    { "I3-uneven-and-too-late", UNPROVED, "beyond the range", UNEVEN,
      "  alloc a arena ring(i)=2\n    for a@warm.i < 1\n      block a@warm[i=i]\n    for b.i < 12\n"
      "      for a.i < i / 2 - (i - 1) / 2\n        block a[i=a.i+(b.i-1)/2+1]\n      block b[i=i]\n" },
    { "I4-ring-too-short", UNPROVED, "ring of 2", BLUR,
      "  alloc a arena ring(i)=2\n    for a@warm.i < 2\n      block a@warm[i=i]\n    for b.i < 10\n      block "
      "a[i=b.i+2]\n      block b[i=b.i]\n" },
    { "I4-ring-of-whole-run", UNPROVED, "ring of 8", TWO,
      "  alloc a arena ring(i)=8\n    for a.i < 12\n      block a[i=i]\n    for b.i < 12\n      block b[i=i]\n" },
    { "I4-shared-storage-in-parallel", WRONG, "parallel loop b.i", TWO,
      "  for b.i < 12 parallel\n    alloc a arena\n      block a[i=i]\n      block b[i=i]\n" },

    /* I5 */
    { "I5-parallel-reduction", WRONG, "y.r feeds a reduce axis", SUM,
      "  for y.i < 6\n    for y.r < 10 parallel\n      block y[i=i, r=r]\n" },
    { "I5-vector-reduction", WRONG, "y.r feeds a reduce axis", SUM,
      "  for y.i < 6\n    for y.r < 10 vector\n      block y[i=i, r=r]\n" },
    { "I5-parallel-carries", WRONG, "b.i carries \"a\"", BLUR,
      "  alloc a arena\n    for a@warm.i < 2\n      block a@warm[i=i]\n    for b.i < 10 parallel\n      block "
      "a[i=b.i+2]\n      block b[i=b.i]\n" },
    { "I5-parallel-halo-outside", UNPROVED, "b.i", BLUR,
      "  alloc a arena\n    for b.i < 10 parallel\n      for a.i < 3\n        block a[i=b.i+a.i]\n      block "
      "b[i=b.i]\n" },
    { "I5-parallel-shifted-tail", UNPROVED, "y.io", DOUBLE,
      "  for y.io < 3 parallel\n    for y.ii < 4\n      block y[i=min(io*4, 6)+ii]\n" },
    { "I5-vector-of-a-size", INVALID, "b.i has no constant extent", SIZED,
      "  alloc a arena\n    for a.i < n\n      block a[i=i]\n    for b.i < n vector\n      block b[i=i]\n" },

    /* I6 */
    { "I6-output-cut-short", WRONG, "output \"y\"", DOUBLE, "  for y.i < 9\n    block y[i=i]\n" },
    { "I6-tail-forgotten", WRONG, "output \"y\"", DOUBLE,
      "  for y.io < 2\n    for y.ii < 4\n      block y[i=io*4+ii]\n" },
    { "I6-guard-forgotten", UNPROVED, "the axis i", DOUBLE,
      "  for y.io < 3\n    for y.ii < 4\n      block y[i=io*4+ii]\n" },
    { "I6-gap-between-copies", UNPROVED, "y", DOUBLE,
      "  for y.i < 5\n    block y[i=i]\n  for y@tail.i < 4\n    block y@tail[i=i+6]\n" },

    /* Form */
    { "form-no-storage", WRONG, "\"a\" has no storage", TWO,
      "  for a.i < 12\n    block a[i=i]\n  for b.i < 12\n    block b[i=i]\n" },
    { "form-no-block", WRONG, "no block computes \"a\"", TWO,
      "  alloc a arena\n    for b.i < 12\n      block b[i=i]\n" },
    { "form-output-stored", WRONG, "\"y\" is caller-owned", DOUBLE,
      "  alloc y arena\n    for y.i < 10\n      block y[i=i]\n" },
    { "form-init-of-a-map", WRONG, "\"y\" does not reduce", DOUBLE, "  for y.i < 10\n    block init y@init[i=i]\n" },
    { "form-two-loops-of-a-name", WRONG, "y.i", MATRIX, "  for y.i < 4\n    for y.i < 6\n      block y[i=0, j=i]\n" },
};

/* ---- The oracle ------------------------------------------------------------------------------------------------ */

static void fill_inputs(Ctx *cx, Env *e, const Nest *n)
{
    for (int i = 0; i < n->input_count; i++) {
        int32_t *x = env_alloc(cx, e, n->input[i]);
        for (int64_t k = 0; k < env_elems(cx, e, n->input[i]); k++) x[k] = (int32_t)(k * 37 % 101 - 40);
    }
}

static void note_size(const Expr *e, void *user)
{
    const Var *v = expr_as_var(e);
    if (v && v->role == VAR_SIZE) *(const Expr **)user = e;
}

static Env *env_of(Ctx *cx, const Nest *n, int64_t size)
{
    Env *e = env_new(cx);
    const Expr *size_var = NULL;
    for (int i = 0; i < n->input_count; i++)
        for (int d = 0; d < n->input[i]->rank; d++) expr_walk(cx, n->input[i]->shape[d], note_size, &size_var);
    if (size_var) env_set_size(e, size_var, size);
    fill_inputs(cx, e, n);
    return e;
}

static bool runs_right(Ctx *cx, const Nest *n, int64_t size, uint64_t shuffle)
{
    Env *wanted = env_of(cx, n, size), *found = env_of(cx, n, size);
    Tensor *out[4];
    RunOptions options = { .checked = true, .shuffle = shuffle };
    for (int i = 0; i < n->output_count; i++) out[i] = n->output[i];
    if (!evaluate(cx, wanted, out, n->output_count)) return false;
    DiagMark mark = diag_mark(cx);
    bool ran = interpret(cx, n, found, &options);
    if (diag_rewind(cx, mark) || !ran) return false;
    for (int i = 0; i < n->output_count; i++) {
        size_t bytes = (size_t)env_elems(cx, wanted, out[i]) * 4;
        if (memcmp(env_get(wanted, out[i]), env_get(found, out[i]), bytes) != 0) return false;
    }
    return true;
}

static bool always_runs_right(Ctx *cx, const Nest *n)
{
    for (int64_t size = 1; size <= 9; size++)
        for (uint64_t shuffle = 0; shuffle < 6; shuffle++)
            if (!runs_right(cx, n, size, shuffle)) return false;
    return true;
}

static const char *const verdicts[] = { "proved", "unproved", "wrong", "invalid" };

/* Refused as wrong because of other inputs, or of faults that no run shows. */
static bool runs_anyway(const Case *c)
{
    static const char *const names[] = { "I5-vector-of-a-size", "I4-shared-storage-in-parallel", "I4-reader-outside" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], c->name) == 0) return true;
    return strncmp(c->name, "form-", 5) == 0;
}

static void check_case(const Case *c)
{
    Ctx *cx = context_new(NULL, NULL);
    const char *why = NULL;
    const Nest *n = nest_read(cx, text_format(cx, "%s%s", c->program, c->loops));
    const char *label = text_format(cx, "%s-is-%s", c->name, verdicts[c->verdict]);
    if (!check_that(n && !ctx_failed(cx), label, "%s", cx->diags ? diag_text(cx, cx->diags) : "not read")) {
        ctx_free(cx);
        return;
    }
    Verdict v = nest_check(cx, n, &why);
    check_that(v == c->verdict, label, "%s: %s", verdicts[v], why ? why : "");
    if (c->says) check_that(why && strstr(why, c->says), label, "says: %s", why ? why : "");
    if (v == PROVED) check_that(always_runs_right(cx, n), label, "proved, but a run gives other values");
    if (v == WRONG && !runs_anyway(c))
        check_that(!always_runs_right(cx, n), label, "called wrong, but every run is right");
    ctx_free(cx);
}

/* ---- Nests that no text can express ------------------------------------------------------------------------------ */

static void naive_nests(void)
{
    Ctx *cx = context_new(NULL, NULL);
    const Expr *n = expr_new_var(cx, "n", VAR_SIZE, I32, 1, 40), *shape[] = { n, expr_index(cx, 9) };
    Tensor *x = tensor_new(cx, "x", F32, 2, shape), *index = tensor_new(cx, "index", I32, 1, shape);
    Tensor *y = FORMULA(cx, "y[i<n, j<9] = x[i, j] * 2.0", BIND_T("x", x), BIND_V("n", n));
    Tensor *z = FORMULA(cx, "z[i<n] = sum(j<9) y[i, j]", BIND_T("y", y), BIND_V("n", n));
    Tensor *g = FORMULA(cx, "g[i<n] = z[min(max(index[i], 0), n - 1)]", BIND_T("z", z), BIND_T("index", index),
                        BIND_V("n", n));
    Tensor *in[] = { x, index }, *out[] = { g };
    const Nest *nest = nest_naive(cx, "t", in, 2, out, 1);
    const char *why = NULL;
    check_that(nest && nest_check(cx, nest, &why) == PROVED, "naive-nest-with-gather", "%s",
               why         ? why
               : cx->diags ? diag_text(cx, cx->diags)
                           : "?");
    ctx_free(cx);
}

static void windows(void)
{
    Ctx *cx = context_new(NULL, NULL);
    const Nest *n = nest_read(cx, BLUR "  for b.io < 5\n    alloc a stack\n      for a.i < 4\n        block "
                                       "a[i=io*2+a.i]\n      for b.ii < 2\n        block b[i=io*2+ii]\n");
    const char *why = NULL;
    Window w;
    const Stmt *loop = n ? n->root : NULL;
    bool found = loop && alloc_window(cx, n, loop->child[0], &w, &why);
    CHECK("window-of-a-tile", found && expr_is_int(w.extent[0], 4));
    CHECK("window-begins-with-the-tile",
          found && provably_equal(cx, w.begin[0], expr_mul(cx, loop->var, expr_index(cx, 2)), NULL));
    ctx_free(cx);
}

int main(void)
{
    CHECK_EACH(check_case, cases);
    CHECK_RUN(naive_nests, windows);
    return check_done();
}
