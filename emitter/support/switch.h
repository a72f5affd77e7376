/* SPDX-License-Identifier: MIT */
#ifndef LW_SUPPORT_SWITCH_H
#define LW_SUPPORT_SWITCH_H
/* A switch for test builds (-DLW_TEST_SWITCH) that turns off one check, so that the random tests can show that what it refuses as
 * wrong is wrong. A check is known by the format of its message. In other builds nothing of it is there. */
#include <string.h>

#include "support/ctx.h"

#ifdef LW_TEST_SWITCH
/* Never 0. */
static inline uint32_t switch_number(const char *format)
{
    uint32_t h = 2166136261u;
    for (; *format; format++) h = (h ^ (uint8_t)*format) * 16777619u;
    return h ? h : 1;
}

/* Asked by a check that is about to refuse: is it off? */
static inline bool switch_is_off(Ctx *cx, const char *format)
{
    if (strcmp(format, "%s") == 0) return false;              /* the checker's sentence, passed on */
    cx->asked = format;
    if (switch_number(format) != cx->off) return false;
    cx->off_fired = true;
    return true;
}
/* What a check that is off would have refused passes all others, too: one check may not hide another. */
static inline bool switch_has_fired(const Ctx *cx) { return cx->off_fired; }
#else
#define switch_has_fired(cx) false
#define switch_is_off(cx, format) false
#endif
#endif
