/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_SWITCH_H
#define LW_SUPPORT_SWITCH_H
/* A switch for test builds (-DLW_TEST_SWITCH) that disables one check. Random tests then show that the steps which the
 * check refuses are indeed wrong. The format of its message identifies a check. Other builds contain nothing of
 * this. */

/* Decision: a refusal called wrong has a counterexample. A refusal is printed as `VERDICT: FAULT; use WHAT`,
 * and the random tests hold each to it. `make fuzz-checks` builds with a switch (`emitter/support/switch.h`) that turns
 * off one check at a time. For each check, it finds a random program that the refused step would break, or for which
 * the process (a child) ends, and shrinks this program. `tests/schedules/counterexamples.txt` keeps these as refusals,
 * and lists the exceptions: `unproved`, `invalid`, and the checker's own checks, for which `tests/unit/test_check.c`
 * has a nest each. The checks are found in the sources; one without a counterexample fails. For this purpose the
 * interpreter executes parallel iterations in lockstep, with shared arena storage, and assumes the facts that a pragma
 * promises. */
#include <string.h>

#include "support/ctx.h"

#ifdef LW_TEST_SWITCH
/* Hashes a format to a check's number, which is never 0. */
static inline uint32_t switch_number(const char *format)
{
    uint32_t h = 2166136261u;
    for (; *format; format++) h = (h ^ (uint8_t)*format) * 16777619u;
    return h ? h : 1;
}

/* Returns true if the check that is about to refuse is disabled. */
static inline bool switch_is_off(Ctx *cx, const char *format)
{
    if (strcmp(format, "%s") == 0) return false;              /* a message that the checker passes on */
    cx->refusing_check = format;
    if (switch_number(format) != cx->off) return false;
    cx->off_fired = true;
    return true;
}
/* Returns true once the disabled check would have refused. All other checks then accept, because one check may hide
 * another. */
static inline bool switch_has_fired(const Ctx *cx) { return cx->off_fired; }
#else
#define switch_has_fired(cx) false
#define switch_is_off(cx, format) false
#endif
#endif
