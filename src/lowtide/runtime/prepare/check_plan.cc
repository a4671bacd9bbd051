// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

Error refused(const Graph& graph, ErrorCode code, const std::string& message) {
  return Error{code, message, "plan of graph " + quoted(graph.name())};
}

Result<void> check_graph(const Prepared& prepared) {
  const Provenance& of = prepared.plan.provenance;
  const Graph& graph = prepared.graph;
  const auto nodes = static_cast<std::int64_t>(graph.nodes().size());
  const auto tensors = static_cast<std::int64_t>(graph.tensors().size());
  if (of.graph == graph.name() && of.nodes == nodes && of.tensors == tensors) return {};
  return refused(prepared.graph, ErrorCode::mismatch,
                 "the plan is for graph " + quoted(of.graph) + " with " + std::to_string(of.nodes) + " nodes and " +
                     std::to_string(of.tensors) + " tensors, but this one has " + std::to_string(nodes) +
                     " nodes and " + std::to_string(tensors) + " tensors; plan this model again");
}

// A plan for a described target has no key, and its kernels have no scratch that depends on the machine.
Result<void> check_key(const Prepared& prepared, int threads) {
  const Provenance& of = prepared.plan.provenance;
  if (of.machine_key.empty()) return {};
  if (runs_here(of.machine_key, threads, kernel_names(prepared.plan))) return {};
  const std::vector<std::string> own =
      texts_of(machine_key({.threads = threads, .caches = options_of_key(of.machine_key).caches}));
  return refused(prepared.graph, ErrorCode::mismatch,
                 "the plan is for a machine with " + listed(of.machine_key, "and") + ", but this one has " +
                     listed(own, "and") + "; plan again with: lowtide plan " +
                     (of.model.empty() ? "MODEL" : quoted(of.model)) + " --target cpu --threads " +
                     std::to_string(threads) + " -o PLAN");
}

// A session has one arena, which is the first region, and memory that only links reach.
Result<void> check_machine(const Prepared& prepared) {
  const Machine& machine = prepared.plan.machine;
  std::size_t arenas = 0;
  for (RegionId id : all_ids<RegionId>(machine.regions.size())) arenas += is_outside(machine, id) ? 0 : 1;
  if (arenas == 1 && !is_outside(machine, RegionId(0))) return {};
  return refused(prepared.graph, ErrorCode::unsupported,
                 "the workers of the plan address " + std::to_string(arenas) +
                     " regions, and a session has one arena, which is the first region; plan with --target cpu");
}

// Kernels read elements at multiples of their size. A plan for a target with another alignment may have others.
Result<void> check_values(const PreparedGraph& in) {
  const Plan& plan = in.plan;
  for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
    const Tensor& tensor = in.graph.tensor(plan.program.values[id].tensor);
    const ValuePlace& place = plan.layout.values[id];
    const std::optional<Placement>& placement = plan.layout.buffers[place.buffer].placement;
    const std::int64_t bytes = std::max(bits_of(tensor.dtype).value_or(8) / 8, 1);
    if (!placement || is_outside(plan.machine, placement->region)) continue;
    const std::int64_t address = in.arena.position() + placement->offset.position() + place.offset.position();
    if (address % bytes == 0) continue;
    return refused(in.graph, ErrorCode::mismatch,
                   "tensor " + quoted(tensor.name) + " is at address " + std::to_string(address) +
                       ", which is not a multiple of the " + std::to_string(bytes) +
                       " bytes of its elements; plan again with --target cpu");
  }
  return {};
}

}  // namespace

Result<void> check_plan(const Prepared& prepared, int threads) {
  if (const Result<void> allowed = check_threads(threads); !allowed) {
    return refused(prepared.graph, allowed.error().code, allowed.error().message);
  }
  if (const std::optional<int>& of_system = prepared.options.system_threads; of_system && *of_system < 1) {
    return refused(prepared.graph, ErrorCode::unsupported,
                   "a run has at least the thread that calls it, but system_threads is " + std::to_string(*of_system));
  }
  LOWTIDE_RETURN_IF_ERROR(check_graph(prepared));
  LOWTIDE_RETURN_IF_ERROR(check_key(prepared, threads));
  return check_machine(prepared);
}

Result<void> check_addresses(const Prepared& prepared) {
  for (const PreparedGraph& in : prepared.graphs) LOWTIDE_RETURN_IF_ERROR(check_values(in));
  return {};
}

}  // namespace lowtide::runtime_internal
