// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"
#include "lowtide/tflite/micro_plan/plan_for_micro.h"

// What the pipeline finds for a model with the kernels of TensorFlow Lite Micro.
namespace lowtide::micro_plan_internal {

struct OrderPlan {
  // By subgraph: the operators in the order of the plan, as indexes of the file. Subgraphs that nothing runs have none.
  std::vector<std::vector<std::uint32_t>> orders;
  // Tensors that have one place, because an operator works in place: operand and result, as numbers among the tensors
  // of all subgraphs.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place;
  Bytes bound;  // for all orders of this graph
};

// The graph of a model, with numbers as names and with its inputs in the arena.
[[nodiscard]] Result<Graph> numbered_graph(const TfliteModel& model, std::string_view bytes);

// Plans the graph of numbered_graph() with the given strategy. Errors: those of plan_graph().
[[nodiscard]] Result<OrderPlan> plan_order(const TfliteModel& model, const Graph& graph, std::string_view strategy,
                                           const MicroPlanOptions& options);

}  // namespace lowtide::micro_plan_internal
