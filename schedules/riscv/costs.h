/* SPDX-License-Identifier: MIT */
#ifndef LW_SCHEDULES_RISCV_COSTS_H
#define LW_SCHEDULES_RISCV_COSTS_H
#include <stddef.h>

#include "ir/nest/costs.h"

extern const Costs costs_rv32, costs_rv64, costs_rvv;
extern const CoreFigures core_rv32;
#endif
