/* SPDX-License-Identifier: MIT */
/* Lists the built-in rows, which are the arrays of ops/ and schedules/. make generates their list, builtin.h, from the
 * file names. */
#include "context/builtin_rows.h"

#define BUILTIN_OPS(rows) extern const Op rows[];
#define BUILTIN_TARGETS(rows) extern const Target rows[];
#define BUILTIN_IMPLEMENTATIONS(rows) extern const Implementation rows[];
#define BUILTIN_DEVICES(rows) extern const Device rows[];
#define BUILTIN_INSTRUCTIONS(rows) extern const InstructionRow rows[];
#include "builtin.h"
#undef BUILTIN_OPS
#undef BUILTIN_TARGETS
#undef BUILTIN_IMPLEMENTATIONS
#undef BUILTIN_DEVICES
#undef BUILTIN_INSTRUCTIONS

/* The addresses of the arrays; NULL ends each list. */
#define BUILTIN_TARGETS(rows)
#define BUILTIN_IMPLEMENTATIONS(rows)
#define BUILTIN_DEVICES(rows)
#define BUILTIN_INSTRUCTIONS(rows)
#define BUILTIN_OPS(rows) rows,
static const Op *const builtin_ops[] = {
#include "builtin.h"
    NULL
};
#undef BUILTIN_OPS
#undef BUILTIN_TARGETS
#define BUILTIN_OPS(rows)
#define BUILTIN_TARGETS(rows) rows,
static const Target *const builtin_targets[] = {
#include "builtin.h"
    NULL
};
#undef BUILTIN_TARGETS
#undef BUILTIN_IMPLEMENTATIONS
#define BUILTIN_TARGETS(rows)
#define BUILTIN_IMPLEMENTATIONS(rows) rows,
static const Implementation *const builtin_implementations[] = {
#include "builtin.h"
    NULL
};
#undef BUILTIN_IMPLEMENTATIONS
#undef BUILTIN_DEVICES
#define BUILTIN_IMPLEMENTATIONS(rows)
#define BUILTIN_DEVICES(rows) rows,
static const Device *const builtin_devices[] = {
#include "builtin.h"
    NULL
};
#undef BUILTIN_DEVICES
#undef BUILTIN_INSTRUCTIONS
#define BUILTIN_DEVICES(rows)
#define BUILTIN_INSTRUCTIONS(rows) rows,
const InstructionRow *const builtin_instructions[] = {
#include "builtin.h"
    NULL
};

const BuiltinRows builtin_rows = { builtin_ops, builtin_targets, builtin_implementations, builtin_devices };
