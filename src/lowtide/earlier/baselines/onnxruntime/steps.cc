// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/onnxruntime/steps.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/onnxruntime/known_shapes.h"
#include "lowtide/earlier/baselines/onnxruntime/trace.h"

namespace lowtide::baselines_internal {
namespace {

RuntimeValue value_of(const Tensor& tensor, bool has_known_shape) {
  return {.size = tensor.size,
          .element_bits = bits_of(tensor.dtype).value_or(0),
          .shape = &tensor.shape,
          .is_given = !tensor.producer.has_value(),
          .is_output = tensor.role == Role::output,
          .has_known_shape = has_known_shape};
}

// The arena may request twice as many bytes as the tensors have. Sums of these do not overflow.
constexpr Bytes kMostBytes{limits::kMaxTotalBytes / 16};

Error too_many_bytes() {
  return Error{
      ErrorCode::over_limit,
      "not computed, because tensors and scratch have more than " + std::to_string(kMostBytes.count()) + " bytes", ""};
}

std::vector<NodeId> producers_of(const Graph& graph, NodeId id) {
  std::vector<NodeId> producers;
  for (TensorId tensor : graph.reads(id)) {
    if (const auto producer = graph.tensor(tensor).producer) producers.push_back(*producer);
  }
  std::sort(producers.begin(), producers.end());
  return producers;
}

bool has_reader(const Graph& graph, NodeId id) {
  const auto& outputs = graph.node(id).outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](std::optional<TensorId> tensor) { return tensor && !graph.readers(*tensor).empty(); });
}

// The recursion over bodies is limited (limits::kMaxBodyNesting).
Result<Bytes> largest_body(const Node& node) {
  Bytes largest;
  for (const Body& body : node.bodies) {
    LOWTIDE_TRY(const RuntimeSteps steps, runtime_steps(*body.graph, runtime_order(*body.graph)));
    largest = std::max(largest, peak_of(trace_of(steps)).live);
  }
  return largest;
}

Result<RuntimeStep> step_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const KernelRule rule = kernel_rule(graph.op(id));
  RuntimeStep step{.node = id, .rule = rule.output};
  if (rule.input < node.inputs.size() && node.inputs[rule.input]) {
    step.rule_input = RuntimeValueId(node.inputs[rule.input]->value());
  }
  for (TensorId tensor : graph.operands(id)) step.inputs.push_back(RuntimeValueId(tensor.value()));
  for (std::optional<TensorId> tensor : node.outputs) {
    if (tensor) step.outputs.push_back(RuntimeValueId(tensor->value()));
  }
  LOWTIDE_TRY(const Bytes body, largest_body(node));
  step.scratch = kernel_scratch(graph, id);
  step.scratch.push_back(body);
  std::erase(step.scratch, Bytes(0));
  return step;
}

// Returns the first half of a HardSwish. `step` becomes the second half, which also reads the result of the first.
RuntimeStep divided_hard_swish(RuntimeSteps& all, RuntimeStep& step) {
  RuntimeValue gate = all.values[step.outputs.front()];
  gate.is_output = false;
  const RuntimeValueId id = all.values.push_back(gate);
  RuntimeStep first = step;
  first.rule = OutputRule::may_replace;
  first.rule_input = first.inputs.front();
  first.outputs = {id};
  step.inputs.push_back(id);
  return first;
}

}  // namespace

std::vector<NodeId> runtime_order(const Graph& graph) {
  struct Visit {
    NodeId node;
    bool is_leaving = false;
  };
  std::vector<Visit> stack;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (!has_reader(graph, id)) stack.push_back({id});
  }
  std::vector<NodeId> order;
  Flags<NodeId> is_entered(graph.nodes().size());
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    if (visit.is_leaving) order.push_back(visit.node);
    if (visit.is_leaving || !is_entered.insert(visit.node)) continue;
    stack.push_back({visit.node, true});
    for (NodeId producer : producers_of(graph, visit.node)) {
      if (!is_entered.test(producer)) stack.push_back({producer});
    }
  }
  return order;
}

Result<RuntimeSteps> runtime_steps(const Graph& graph, const std::vector<NodeId>& order) {
  RuntimeSteps all;
  Bytes total;
  const Flags<TensorId> known = known_shapes(graph);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    all.values.push_back(value_of(graph.tensor(id), known.test(id)));
    total += graph.tensor(id).size;
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (const Bytes packed = kernel_packed(graph, id); packed > Bytes(0)) all.packed.push_back(packed);
  }
  for (NodeId id : order) {
    LOWTIDE_TRY(RuntimeStep step, step_of(graph, id));
    for (Bytes block : step.scratch) total += std::min(block, kMostBytes);
    if (total > kMostBytes) return too_many_bytes();
    const bool is_divided = graph.op(id).domain.empty() && graph.op(id).type == "HardSwish" && !step.outputs.empty();
    if (is_divided) all.steps.push_back(divided_hard_swish(all, step));
    all.steps.push_back(std::move(step));
  }
  return all;
}

}  // namespace lowtide::baselines_internal
