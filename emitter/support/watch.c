/* SPDX-License-Identifier: MIT */
#include "support/watch.h"

#include <string.h>
#include <time.h>

#include "support/text.h"

enum { MOST_LAPS = 64 };

typedef struct Lap { const char *part, *name; clock_t ticks; int times; } Lap;
struct Watch { Ctx *cx; clock_t last; int count; Lap lap[MOST_LAPS]; };

Watch *watch_new(Ctx *cx)
{
    Watch *w = NEW(cx->arena, Watch);
    w->cx = cx;
    w->last = clock();
    return w;
}

/* Returns the lap of a pair. If the table is full, time is booked on the last entry. */
static Lap *lap_of(Watch *w, const char *part, const char *name)
{
    for (int i = 0; i < w->count; i++)
        if (strcmp(w->lap[i].part, part) == 0 && strcmp(w->lap[i].name, name) == 0) return &w->lap[i];
    if (w->count == MOST_LAPS) return &w->lap[MOST_LAPS - 1];
    w->lap[w->count] = (Lap){ part, name, 0, 0 };
    return &w->lap[w->count++];
}

void watch_lap(Watch *w, const char *part, const char *name)
{
    if (!w) return;
    const clock_t now = clock();
    Lap *lap = lap_of(w, part, name);
    lap->ticks += now - w->last;
    lap->times++;
    w->last = now;
}

static long long microseconds(clock_t ticks) { return (long long)((double)ticks * 1e6 / (double)CLOCKS_PER_SEC); }

static void note(Ctx *cx, const Lap *lap)
{
    const long long us = microseconds(lap->ticks);
    const char *times = lap->times > 1 ? text_format(cx, ", %d times", lap->times) : "";
    diag_listed(cx, NOTE, NULL, "%6lld.%03lld ms  %s%s%s%s", us / 1000, us % 1000, lap->part, *lap->part ? " " : "",
                lap->name, times);
}

void watch_report(Watch *w)
{
    Lap all = { "", "total", 0, 1 };
    for (int i = 0; w && i < w->count; i++) {
        all.ticks += w->lap[i].ticks;
        note(w->cx, &w->lap[i]);
    }
    if (w) note(w->cx, &all);
}
