// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/node_name.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/supported.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

// The values of the program omit what the node omits.
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
std::optional<int> overwritten_input(const Layout& layout, const Operands& operands) {
  if (operands.writes.empty() || !operands.writes[0]) return std::nullopt;
  const ValuePlace& result = layout.values[*operands.writes[0]];
  for (std::size_t at = 0; at < operands.reads.size(); ++at) {
    if (operands.reads[at] && layout.values[*operands.reads[at]] == result) return static_cast<int>(at);
  }
  return std::nullopt;
}

// The name of the kernel that a step runs. An alias with extents that depend on data runs a kernel in place, which
// finds them.
std::string_view kernel_name(const PreparedGraph& in, const Step& step) {
  const auto* compute = std::get_if<Compute>(&step.work);
  return compute != nullptr ? std::string_view(in.plan.kernels[compute->kernel].name) : "plain";
}

// Checks that the plan reserves the scratch of the kernel.
Result<void> check_scratch(const PreparedGraph& in, StepId step, const Kernel& kernel) {
  const std::optional<BufferId> buffer = in.plan.layout.steps[step].scratch;
  const Bytes reserved = buffer ? in.plan.layout.buffers[*buffer].size : Bytes(0);
  if (reserved >= kernel.scratch) return {};
  return Error{ErrorCode::mismatch,
               "the plan reserves " + format_bytes(reserved) + " of scratch, but kernel " + quoted(kernel.name) +
                   " needs " + format_bytes(kernel.scratch) + "; plan again with --target cpu",
               place_of(in, step)};
}

// Whether two values have a byte in common. Requires: both are in buffers of one plan.
bool share_bytes(const PreparedGraph& in, ValueId a, ValueId b) {
  const ValuePlace& first = in.plan.layout.values[a];
  const ValuePlace& second = in.plan.layout.values[b];
  if (first.buffer != second.buffer) return false;
  const auto size = [&](ValueId value) { return in.graph.tensor(in.plan.program.values[value].tensor).size; };
  return first.offset < second.offset + size(b) && second.offset < first.offset + size(a);
}

// Whether a kernel may write an output over an operand. A tensor may be several inputs of the node.
bool may_overwrite(const Kernel& kernel, const Node& node, const std::optional<TensorId>& operand, int output) {
  return std::ranges::any_of(kernel.in_place, [&](const std::pair<int, int>& pair) {
    return pair.second == output && node.inputs[static_cast<std::size_t>(pair.first)] == operand;
  });
}

// Checks that the kernel permits each result that the plan puts over an operand. What the operator permits is checked
// before, but a kernel may still read an operand after it has begun to write.
Result<void> check_in_place(const PreparedGraph& in, StepId step, const Kernel& kernel) {
  if (!is_compute(in.plan.program.steps[step])) return {};  // an alias has the bytes of its operand
  const Node& node = in.graph.node(*node_of(in.plan.program.steps[step]));
  const Operands operands = operands_of(in, step);
  for (std::size_t output = 0; output < operands.writes.size(); ++output) {
    for (std::size_t input = 0; input < operands.reads.size(); ++input) {
      if (!operands.writes[output] || !operands.reads[input]) continue;
      if (!share_bytes(in, *operands.writes[output], *operands.reads[input])) continue;
      if (may_overwrite(kernel, node, node.inputs[input], static_cast<int>(output))) continue;
      return Error{ErrorCode::mismatch,
                   "the plan writes " + quoted(in.graph.tensor(*node.outputs[output]).name) + " over operand " +
                       quoted(in.graph.tensor(*node.inputs[input]).name) + ", but kernel " + quoted(kernel.name) +
                       " may not work in place there; plan again with --target cpu",
                   place_of(in, step)};
    }
  }
  return {};
}

// PreparedKernel::bind needs scratch at a multiple of 64. A plan for a target with another alignment may have it
// elsewhere.
Result<void> check_scratch_address(const PreparedGraph& in, StepId step) {
  constexpr std::int64_t kAlignment = 64;
  const std::optional<BufferId> buffer = in.plan.layout.steps[step].scratch;
  if (!buffer) return {};
  const std::optional<Placement>& placement = in.plan.layout.buffers[*buffer].placement;
  const std::int64_t address = in.arena.position() + (placement ? placement->offset.position() : 0);
  if (address % kAlignment == 0) return {};
  return Error{ErrorCode::mismatch,
               "the scratch is at address " + std::to_string(address) + ", which is not a multiple of " +
                   std::to_string(kAlignment) + "; plan again with --target cpu",
               place_of(in, step)};
}

// An error of a node with the step that runs it.
Error in_step(const PreparedGraph& in, StepId step, Error error) {
  if (error.code == ErrorCode::invalid) error.place = place_of(in, step);
  return error;
}

// The kernel of a step: that of the host, otherwise one of the library.
Result<std::unique_ptr<PreparedKernel>> prepare_kernel(const Prepared& prepared, const PreparedGraph& in, StepId id) {
  const Step& step = in.plan.program.steps[id];
  const PrepareInput input{.graph = in.graph,
                           .node = *node_of(step),
                           .kernel = kernel_name(in, step),
                           .constant = [&](TensorId tensor) { return in.constants[tensor]; },
                           .overwritten_input = overwritten_input(in.plan.layout, operands_of(in, id)),
                           .threads = prepared.options.threads,
                           .caches = *options_of_key(prepared.plan.provenance.machine_key).caches};
  if (prepared.options.own_kernel) {
    std::unique_ptr<PreparedKernel> own = prepared.options.own_kernel(input);
    if (own != nullptr) {
      LOWTIDE_RETURN_IF_ERROR(check_scratch_address(in, id));
      return own;
    }
  }
  Result<PreparedOffer> offered = prepare_offer(input);
  if (!offered) return in_step(in, id, offered.error());
  PreparedOffer& made = *offered;
  LOWTIDE_RETURN_IF_ERROR(check_scratch(in, id, made.offer));
  LOWTIDE_RETURN_IF_ERROR(check_in_place(in, id, made.offer));
  LOWTIDE_RETURN_IF_ERROR(check_scratch_address(in, id));
  return std::move(made.kernel);
}

Result<Action> kernel_action(const Prepared& prepared, const PreparedGraph& in, StepId id) {
  Result<std::unique_ptr<PreparedKernel>> kernel = prepare_kernel(prepared, in, id);
  if (!kernel) return kernel.error();
  return Action(KernelAction{.step = id,
                             .operands = operands_of(in, id),
                             .kernel = *std::move(kernel),
                             .scratch = in.plan.layout.steps[id].scratch});
}

// Whether the host has a kernel for the node.
bool is_own(const Prepared& prepared, const PreparedGraph& in, NodeId node) {
  if (!prepared.options.own_kernel) return false;
  const auto constant = [&](TensorId tensor) { return in.constants[tensor]; };
  return prepared.options.own_kernel({.graph = in.graph, .node = node, .kernel = "", .constant = constant}) != nullptr;
}

// A node whose kernel refuses it when it is prepared, for example because of the value of a constant.
UnsupportedNode refused_node(const PreparedGraph& in, NodeId id, const Error& error) {
  return {id, in.path, node_name(in.graph, id), full_name(in.graph.op(id)), error.message};
}

// Checks a step without a kernel: its result has the bytes of its operand, and must have as many.
Result<void> check_alias(const PreparedGraph& in, StepId id) {
  const auto constant = [&](TensorId tensor) { return in.constants[tensor]; };
  const Result<void> checked = check_extents(in.graph, *node_of(in.plan.program.steps[id]), constant);
  return checked ? Result<void>() : in_step(in, id, checked.error());
}

// Adds the action of a step, if it has one.
Result<void> add_action(Prepared& prepared, PreparedGraphId in, StepId id) {
  PreparedGraph& graph = prepared.graphs[in];
  const Step& step = graph.plan.program.steps[id];
  if (const auto* copy = std::get_if<Copy>(&step.work)) {
    graph.actions.emplace_back(CopyAction{id, step.reads[0], step.writes[0], copy->bytes});
    return {};
  }
  const bool has_bodies = !graph.graph.node(*node_of(step)).bodies.empty();
  if (!has_bodies && !needs_kernel(graph, id)) return check_alias(graph, id);
  Result<Action> action = has_bodies ? body_action(prepared, in, id) : kernel_action(prepared, graph, id);
  if (!action) return action.error();
  graph.actions.push_back(*std::move(action));
  return {};
}

// The node of a step that has no action, and why.
struct FailedStep {
  NodeId node;
  Error error;
};

// Adds the actions of a graph. Returns the steps that failed.
std::vector<FailedStep> add_actions(Prepared& prepared, PreparedGraphId graph) {
  std::vector<FailedStep> failed;
  const std::size_t steps = prepared.graphs[graph].plan.program.steps.size();
  for (StepId id : all_ids<StepId>(steps)) {
    const Result<void> added = add_action(prepared, graph, id);
    if (!added.ok()) failed.push_back({*node_of(prepared.graphs[graph].plan.program.steps[id]), added.error()});
  }
  return failed;
}

}  // namespace

Operands operands_of(const PreparedGraph& in, StepId step) {
  const Step& of = in.plan.program.steps[step];
  const Node& node = in.graph.node(*node_of(of));
  return {with_omitted(node.inputs, of.reads), with_omitted(node.outputs, of.writes)};
}

bool needs_kernel(const PreparedGraph& in, StepId step) {
  const Step& of = in.plan.program.steps[step];
  const std::optional<NodeId> id = node_of(of);
  if (!id || !in.graph.node(*id).bodies.empty() || is_caller(in.graph.op(*id))) return false;
  if (is_compute(of)) return true;
  const auto is_dynamic = [&](ValueId value) {
    return in.graph.tensor(in.plan.program.values[value].tensor).shape.has_upper_bounds();
  };
  return std::any_of(of.reads.begin(), of.reads.end(), is_dynamic) ||
         std::any_of(of.writes.begin(), of.writes.end(), is_dynamic);
}

Offset offset_in_arena(const Plan& plan, ValueId value) {
  const ValuePlace& place = plan.layout.values[value];
  return plan.layout.buffers[place.buffer].placement->offset + Bytes(place.offset.position());
}

std::vector<UnsupportedNode> unsupported_in(const Prepared& prepared, const PreparedGraph& in) {
  Flags<NodeId> is_run(in.graph.nodes().size());
  for (StepId id : all_ids<StepId>(in.plan.program.steps.size())) {
    if (needs_kernel(in, id)) is_run.set(*node_of(in.plan.program.steps[id]));
  }
  std::vector<UnsupportedNode> nodes;
  for (UnsupportedNode& one : unsupported(in.graph)) {
    if (!one.path.empty() || !is_run.test(one.node)) continue;  // nodes of bodies have their turn
    if (is_own(prepared, in, one.node)) continue;
    one.path = in.path;
    nodes.push_back(std::move(one));
  }
  return nodes;
}

// All nodes that cannot run are named at once, so it goes on after the first of them. What the machine offers for each
// node is only asked if a step has failed, because that takes as long as to prepare them all. A contradiction comes
// first, since no machine has a kernel for it.
Result<void> make_actions(Prepared& prepared) {
  std::vector<UnsupportedNode> nodes;
  std::optional<Error> other;
  for (PreparedGraphId graph : all_ids<PreparedGraphId>(prepared.graphs.size())) {
    const std::vector<FailedStep> failed = add_actions(prepared, graph);
    if (failed.empty()) continue;
    const auto contradiction =
        std::ranges::find(failed, ErrorCode::invalid, [](const FailedStep& step) { return step.error.code; });
    if (contradiction != failed.end()) return contradiction->error;
    const PreparedGraph& in = prepared.graphs[graph];
    Flags<NodeId> is_listed(in.graph.nodes().size());
    for (UnsupportedNode& one : unsupported_in(prepared, in)) {
      is_listed.set(one.node);
      nodes.push_back(std::move(one));
    }
    for (const auto& [node, error] : failed) {
      if (is_listed.test(node)) continue;
      if (error.code == ErrorCode::unsupported) {
        is_listed.set(node);
        nodes.push_back(refused_node(in, node, error));
      } else if (!other) {
        other = error;
      }
    }
  }
  if (!nodes.empty()) return unsupported_error(nodes);
  if (other) return *other;
  return {};
}

}  // namespace lowtide::runtime_internal
