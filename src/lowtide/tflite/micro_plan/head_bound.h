// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"
#include "lowtide/tflite/micro_plan/plan_for_micro.h"

namespace lowtide::micro_plan_internal {

// Whether operators of the model run subgraphs.
[[nodiscard]] bool has_calls(const TfliteModel& model);

// A bound of the head for models whose operators run subgraphs: no order and no offsets have a smaller one.
//
// The graph of such a model has arenas of bodies, which live longer than the tensors of a subgraph in the runtime, so
// its bound does not hold for the head. Here, each subgraph that runs is planned alone, and the largest bound counts.
// An operator that runs subgraphs becomes two: one reads its operands, and a later one writes its results. Between
// them, offsets may give its memory to other tensors.
//
// Errors: those of plan_order().
[[nodiscard]] Result<Bytes> bound_of_subgraphs(const TfliteModel& model, std::string_view file,
                                               const MicroPlanOptions& options);

}  // namespace lowtide::micro_plan_internal
