// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/onnxruntime/steps.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/onnxruntime/known_shapes.h"
#include "lowtide/earlier/baselines/onnxruntime/trace.h"

namespace lowtide::baselines_internal {
namespace {

RuntimeValue value_of(const Tensor& tensor, std::optional<ShapeForm> form) {
  return {.size = tensor.size,
          .element_bits = bits_of(tensor.dtype).value_or(0),
          .is_given = !tensor.producer.has_value(),
          .is_output = tensor.role == Role::output,
          .form = std::move(form)};
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

// Sets the body of the step that needs the most. The recursion over bodies is limited (limits::kMaxBodyNesting).
Result<void> add_body(const Node& node, bool is_if, RuntimeStep& step) {
  Bytes largest;
  for (const Body& body : node.bodies) {
    LOWTIDE_TRY(RuntimeSteps steps, runtime_steps(*body.graph, runtime_order(*body.graph)));
    for (RuntimeValue& value : steps.values) value.is_given = value.is_given || (is_if && value.is_output);
    // One body needs no choice, and to trace nested loops at each level would take d^3 for d of them.
    const Bytes peak = node.bodies.size() == 1 ? Bytes(0) : peak_of(trace_of(steps)).live;
    if (step.body != nullptr && peak <= largest) continue;
    largest = peak;
    step.body = std::make_shared<const RuntimeSteps>(std::move(steps));
  }
  step.repeats_body = step.body != nullptr && !is_if;
  return {};
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
  LOWTIDE_RETURN_IF_ERROR(add_body(node, graph.op(id).domain.empty() && graph.op(id).type == "If", step));
  step.scratch = kernel_scratch(graph, id);
  std::erase(step.scratch, Bytes(0));
  return step;
}

// The import writes a DynamicQuantizeLSTM as an LSTM, and nodes that make real numbers of its weights. ONNX Runtime has
// no such numbers. These nodes depend on constants alone, and the name of the operator is the beginning of theirs.
Flags<NodeId> weights_of_quantized_lstms(const Graph& graph) {
  std::set<std::string, std::less<>> prefixes;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (!graph.op(id).domain.empty() || graph.op(id).type != "LSTM") continue;
    const std::string& name = graph.node(id).name;
    prefixes.insert((name.empty() ? "DynamicQuantizeLSTM" : name) + "/");
  }
  Flags<NodeId> found(graph.nodes().size());
  Flags<TensorId> is_constant(graph.tensors().size());
  const auto is_known = [&](TensorId tensor) {
    return graph.tensor(tensor).role == Role::constant || is_constant.test(tensor);
  };
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Node& node = graph.node(id);
    const std::string_view name = node.name;
    const std::size_t slash = name.rfind('/');
    const bool is_part = slash != std::string_view::npos && prefixes.contains(name.substr(0, slash + 1));
    if (!is_part || !std::ranges::all_of(graph.reads(id), is_known)) continue;
    found.set(id);
    for (std::optional<TensorId> tensor : node.outputs) {
      if (tensor) is_constant.set(*tensor);
    }
  }
  return found;
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

Result<RuntimeSteps> runtime_steps(const Graph& graph, const std::vector<NodeId>& order,
                                   const OnnxRuntimeShapes& shapes) {
  RuntimeSteps all;
  IdVector<TensorId, std::optional<ShapeForm>> forms = known_shapes(graph, shapes);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    all.values.push_back(value_of(graph.tensor(id), std::move(forms[id])));
    all.total += graph.tensor(id).size;
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (const Bytes packed = kernel_packed(graph, id); packed > Bytes(0)) all.packed.push_back(packed);
  }
  const Flags<NodeId> absent = weights_of_quantized_lstms(graph);
  for (NodeId id : order) {
    if (absent.test(id)) {
      for (std::optional<TensorId> tensor : graph.node(id).outputs) {
        if (tensor) all.values[RuntimeValueId(tensor->value())].is_given = true;
      }
      continue;
    }
    LOWTIDE_TRY(RuntimeStep step, step_of(graph, id));
    for (Bytes block : step.scratch) all.total += std::min(block, kMostBytes);
    if (step.body != nullptr) all.total += step.body->total;
    if (all.total > kMostBytes) return too_many_bytes();
    const bool is_divided = graph.op(id).domain.empty() && graph.op(id).type == "HardSwish" && !step.outputs.empty();
    if (is_divided) all.steps.push_back(divided_hard_swish(all, step));
    all.steps.push_back(std::move(step));
  }
  return all;
}

}  // namespace lowtide::baselines_internal
