// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro_plan/head_bound.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/tflite/micro_plan/order_plan.h"

namespace lowtide::micro_plan_internal {
namespace {

// By subgraph: whether the first one runs it, directly or through others.
std::vector<bool> subgraphs_that_run(const TfliteModel& model) {
  std::vector<bool> runs(model.subgraphs.size(), false);
  std::vector<std::uint32_t> left = {0};
  runs[0] = true;
  while (!left.empty()) {
    const std::uint32_t index = left.back();
    left.pop_back();
    for (const TfliteOperator& op : model.subgraphs[index].operators) {
      for (const TfliteCall& call : op.calls) {
        if (runs[call.subgraph]) continue;
        runs[call.subgraph] = true;
        left.push_back(call.subgraph);
      }
    }
  }
  return runs;
}

TfliteOperator custom(const char* name, std::vector<std::optional<std::uint32_t>> inputs,
                      std::vector<std::optional<std::uint32_t>> outputs) {
  return {.type = name, .builtin = kTfliteCustom, .inputs = std::move(inputs), .outputs = std::move(outputs)};
}

// A model of one subgraph, without what its operators run.
TfliteModel alone(const TfliteModel& model, std::uint32_t index) {
  TfliteModel one{.version = model.version, .subgraphs = {model.subgraphs[index]}, .buffers = model.buffers};
  TfliteSubgraph& subgraph = one.subgraphs.front();
  subgraph.operators.clear();
  for (const TfliteOperator& op : model.subgraphs[index].operators) {
    if (op.calls.empty()) {
      subgraph.operators.push_back(op);
      continue;
    }
    const auto done = static_cast<std::uint32_t>(subgraph.tensors.size());
    subgraph.tensors.push_back({.name = "done", .type = TfliteType::int8, .shape = {0}});
    subgraph.operators.push_back(custom("begin", op.inputs, {done}));
    subgraph.operators.push_back(custom("end", {done}, op.outputs));
  }
  return one;
}

}  // namespace

bool has_calls(const TfliteModel& model) {
  return std::ranges::any_of(model.subgraphs, [](const TfliteSubgraph& subgraph) {
    return std::ranges::any_of(subgraph.operators, [](const TfliteOperator& op) { return !op.calls.empty(); });
  });
}

Result<Bytes> bound_of_subgraphs(const TfliteModel& model, std::string_view file, const MicroPlanOptions& options) {
  const std::vector<bool> runs = subgraphs_that_run(model);
  Bytes bound;
  for (std::uint32_t index = 0; index < model.subgraphs.size(); ++index) {
    if (!runs[index]) continue;
    const TfliteModel one = alone(model, index);
    LOWTIDE_TRY(const Graph graph, numbered_graph(one, file));
    LOWTIDE_TRY(const OrderPlan plan, plan_order(one, graph, "auto", options));
    bound = std::max(bound, plan.bound);
  }
  return bound;
}

}  // namespace lowtide::micro_plan_internal
