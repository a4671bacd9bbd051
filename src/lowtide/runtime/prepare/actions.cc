// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/supported.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

std::string place_of(const Prepared& prepared, StepId step, NodeId node) {
  return "graph " + quoted(prepared.graph.name()) + ": step " + std::to_string(step.value()) + ": node " +
         std::to_string(node.value()) + " " + quoted(prepared.graph.node(node).name) + " (" +
         full_name(prepared.graph.op(node)) + ")";
}

// The values of a step, one per entry of the node. The values of the program omit what the node omits.
std::vector<std::optional<ValueId>> with_omitted(const std::vector<std::optional<TensorId>>& tensors,
                                                 const std::vector<ValueId>& values) {
  std::vector<std::optional<ValueId>> all;
  std::size_t next = 0;
  for (const std::optional<TensorId>& tensor : tensors) {
    all.push_back(tensor ? std::optional(values[next++]) : std::nullopt);
  }
  return all;
}

// The input whose first byte is also that of output 0.
std::optional<int> overwritten_input(const Layout& layout, const KernelAction& action) {
  if (action.writes.empty() || !action.writes[0]) return std::nullopt;
  const ValuePlace& result = layout.values[*action.writes[0]];
  for (std::size_t at = 0; at < action.reads.size(); ++at) {
    if (action.reads[at] && layout.values[*action.reads[at]] == result) return static_cast<int>(at);
  }
  return std::nullopt;
}

// Checks that the plan reserves the scratch of the kernel.
Result<void> check_scratch(const Prepared& prepared, StepId step, const Compute& compute) {
  const std::string& name = prepared.plan.kernels[compute.kernel].name;
  const std::vector<Kernel> offered = offered_kernels(prepared.graph, compute.node);
  const auto kernel = std::find_if(offered.begin(), offered.end(), [&](const Kernel& one) {
    return one.name == name || (name == "dense" && one.name == "plain");
  });
  if (kernel == offered.end()) return {};  // prepare() refuses the name
  const std::optional<BufferId> buffer = prepared.plan.layout.steps[step].scratch;
  const Bytes reserved = buffer ? prepared.plan.layout.buffers[*buffer].size : Bytes(0);
  if (reserved >= kernel->scratch) return {};
  return Error{ErrorCode::mismatch,
               "the plan reserves " + format_bytes(reserved) + " of scratch, but kernel " + quoted(kernel->name) +
                   " needs " + format_bytes(kernel->scratch) + "; plan again with --target cpu",
               place_of(prepared, step, compute.node)};
}

Result<KernelAction> kernel_action(const Prepared& prepared, StepId id, const Compute& compute, int threads) {
  LOWTIDE_RETURN_IF_ERROR(check_scratch(prepared, id, compute));
  const Step& step = prepared.plan.program.steps[id];
  const Layout& layout = prepared.plan.layout;
  const Node& node = prepared.graph.node(compute.node);
  KernelAction action{
      .step = id, .reads = with_omitted(node.inputs, step.reads), .writes = with_omitted(node.outputs, step.writes)};
  if (const std::optional<BufferId> scratch = layout.steps[id].scratch) {
    action.scratch = layout.buffers[*scratch].placement->offset;
  }
  Result<std::unique_ptr<PreparedKernel>> kernel =
      prepare({.graph = prepared.graph,
               .node = compute.node,
               .kernel = prepared.plan.kernels[compute.kernel].name,
               .constant = [&](TensorId tensor) { return prepared.constants[tensor]; },
               .overwritten_input = overwritten_input(layout, action),
               .threads = threads});
  if (!kernel) return kernel.error();
  action.kernel = *std::move(kernel);
  return action;
}

// All nodes that a step computes although they have no kernel.
Result<void> check_supported(const Prepared& prepared) {
  Flags<NodeId> is_computed(prepared.graph.nodes().size());
  for (const Step& step : prepared.plan.program.steps) {
    if (const auto* compute = std::get_if<Compute>(&step.work)) is_computed.set(compute->node);
  }
  std::vector<UnsupportedNode> nodes = unsupported(prepared.graph);
  std::erase_if(nodes, [&](const UnsupportedNode& one) { return !is_computed.test(one.node); });
  if (!nodes.empty()) return unsupported_error(nodes);
  return {};
}

}  // namespace

Offset offset_in_arena(const Plan& plan, ValueId value) {
  const ValuePlace& place = plan.layout.values[value];
  return plan.layout.buffers[place.buffer].placement->offset + Bytes(place.offset.position());
}

Result<void> make_actions(Prepared& prepared, int threads) {
  LOWTIDE_RETURN_IF_ERROR(check_supported(prepared));
  for (StepId id : all_ids<StepId>(prepared.plan.program.steps.size())) {
    const Step& step = prepared.plan.program.steps[id];
    if (const auto* copy = std::get_if<Copy>(&step.work)) {
      prepared.actions.emplace_back(CopyAction{id, step.reads[0], step.writes[0], copy->bytes});
      continue;
    }
    const auto* compute = std::get_if<Compute>(&step.work);
    if (compute == nullptr || is_caller(prepared.graph.op(compute->node))) continue;
    Result<KernelAction> action = kernel_action(prepared, id, *compute, threads);
    if (!action) return action.error();
    prepared.actions.emplace_back(*std::move(action));
  }
  return {};
}

}  // namespace lowtide::runtime_internal
