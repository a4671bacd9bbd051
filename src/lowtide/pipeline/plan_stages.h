// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/enum_names.h"

namespace lowtide {

// The stages of plan_graph, in the order in which they run.
enum class PlanStage : std::uint8_t {
  bodies,       // plans the graphs inside nodes, with the same stages
  kernels,      // chooses a kernel for each node
  order,        // chooses an order by heuristics, and bounds all orders
  search,       // searches all orders for a better one
  bound,        // raises the bound if its effort ended early
  allocate,     // decides which tensors share a buffer, and gives each buffer a region and an offset
  refine,       // tries other orders and other sharing if the arena exceeds the load
  check_bound,  // confirms the bound with code that shares nothing with the stages above
  exchange,   // plans again with kernels that need less memory, if the target has any, and uses them if they are needed
  recompute,  // lets nodes run again if the plan exceeds a budget
  parallelize,  // schedules the plan onto several streams, in waves or as dataflow, if the options ask for it
  verify,       // replays the finished plan
};

template <>
inline constexpr auto kEnumNames<PlanStage> = enum_names<PlanStage>({{PlanStage::bodies, "bodies"},
                                                                     {PlanStage::kernels, "kernels"},
                                                                     {PlanStage::order, "order"},
                                                                     {PlanStage::search, "search"},
                                                                     {PlanStage::bound, "bound"},
                                                                     {PlanStage::allocate, "allocate"},
                                                                     {PlanStage::refine, "refine"},
                                                                     {PlanStage::check_bound, "check_bound"},
                                                                     {PlanStage::exchange, "exchange"},
                                                                     {PlanStage::recompute, "recompute"},
                                                                     {PlanStage::parallelize, "parallelize"},
                                                                     {PlanStage::verify, "verify"}});

// Whether a correct plan results without the stage.
[[nodiscard]] bool is_optional(PlanStage stage);

// Names of all stages, and of the optional ones, in order.
[[nodiscard]] const std::vector<std::string>& plan_stages();
[[nodiscard]] const std::vector<std::string>& optional_plan_stages();

// The wall-clock time of a stage, including its bodies. It is for reports only, and no decision depends on it.
struct StageTime {
  PlanStage stage = PlanStage::bodies;
  double seconds = 0;
};

}  // namespace lowtide
