/* SPDX-License-Identifier: MIT */
#ifndef LW_API_TRAFFIC_H
#define LW_API_TRAFFIC_H
/* Computes the bytes that layers read and write, by the kind of memory. */
#include "driver/driver.h"
#include "lower/count.h"

/* RESULTS: outputs of layers in the arena. SCRATCH: buffers of one layer in the arena. WEIGHTS: constants and trained
 * parameters. PORTS: inputs, outputs and state. STACK: arrays that functions declare; registers that they save are not
 * counted. UNITS: arrays in memories that schedules declare. */
typedef enum TrafficKind {
    TRAFFIC_RESULTS, TRAFFIC_SCRATCH, TRAFFIC_WEIGHTS, TRAFFIC_PORTS, TRAFFIC_STACK, TRAFFIC_UNITS,
    TRAFFIC_KINDS
} TrafficKind;
extern const char *const traffic_kind_names[TRAFFIC_KINDS];

/* The traffic of a parameter of a layer's function, or of the arrays that the function declares. parameter: NULL for
 * the arrays. bytes: its largest size. */
typedef struct ParameterTraffic {
    const char *name;
    const Memory *parameter;
    TrafficKind kind;
    int64_t bytes;
    Traffic moved;
    const char *memory;                /* the memory of --memory that contains the parameter, or NULL if none does */
    int64_t copied; const char *from;  /* of a copied constant: the bytes copied, and their memory; otherwise 0, NULL */
} ParameterTraffic;

/* Stores the parameters with traffic in *out, in the order of the function; returns their number. A layer without a
 * function has none. */
int report_traffic(const Build *b, int group, const ParameterTraffic **out);
/* A memory of --memory, as the plan uses it. Sizes are in bytes; costs are thousandths of the cost of a byte.
 * live_bound: for a RAM, the largest sum of bytes that are live at once; otherwise 0. */
typedef struct MemoryUse {
    const char *name;
    bool is_rom;
    int64_t capacity, used, live_bound, cost;
    Traffic moved;
} MemoryUse;
/* Stores the memories in *out and returns their number. */
int report_memories(const Build *b, const MemoryUse **out);

/* A memory that schedules declare, such as the scratchpad of a unit, and the bytes up to the last that a layer uses */
enum { MOST_UNITS = 64 };
typedef struct UnitUse { const struct Scope *memory; int64_t used; } UnitUse;
int report_units(const Build *b, const UnitUse **out);           /* returns their number */

int report_traffic_kinds(const Build *b);       /* the columns of a text: UNITS only if there are any */

/* An item that costs more in its memory than in the memory `into`: a result, a layer's scratch memory, or a constant
 * that a layer reads. `into` has room for the piece if it grows by `missing` bytes; 0 or less if other items freed
 * enough room. saved: the costs that this saves, in thousandths of the cost of a byte. */
typedef struct Outside { const char *name, *memory; int64_t bytes, missing, saved; const char *into; } Outside;
/* Stores the items outside the memory with the least costs in *out, the one that saves most first; returns their
 * number. */
int report_outside(const Build *b, const Outside **out);
/* Returns the number of the plan's memory with the least costs; of equal ones, the first. */
int report_fastest(const Build *b);

/* Adds the traffic of a layer's parameters to the sums by kind. */
void report_add_traffic(const ParameterTraffic *p, int count, Traffic sum[TRAFFIC_KINDS]);
/* Sums the traffic of all groups by kind. */
void report_sum_traffic(const Build *b, Traffic sum[TRAFFIC_KINDS]);
#endif
