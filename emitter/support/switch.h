/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_SWITCH_H
#define LW_SUPPORT_SWITCH_H
/* A switch for test builds (-DLW_TEST_SWITCH) that disables one check. Random tests then show that the steps which the
 * check refuses are indeed wrong. The format of its message identifies a check. Other builds contain nothing of
 * this. */
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

/* True if the check that is about to refuse is disabled. */
static inline bool switch_is_off(Ctx *cx, const char *format)
{
    if (strcmp(format, "%s") == 0) return false;              /* a message of the checker, passed on */
    cx->refusing_check = format;
    if (switch_number(format) != cx->off) return false;
    cx->off_fired = true;
    return true;
}
/* True once the disabled check would have refused: all other checks then accept, because one check may hide another. */
static inline bool switch_has_fired(const Ctx *cx) { return cx->off_fired; }
#else
#define switch_has_fired(cx) false
#define switch_is_off(cx, format) false
#endif
#endif
