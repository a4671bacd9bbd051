// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/sequence/kernel_choice.h"

#include <algorithm>
#include <utility>

#include "lowtide/analysis/view_table.h"
#include "lowtide/base/check.h"
#include "lowtide/base/flags.h"
#include "lowtide/pipeline/task/target_kernels.h"
#include "lowtide/target/cost.h"

namespace lowtide::pipeline_internal {
namespace {

// The bytes that the bodies of a node need in every plan of the scope. Bodies may share bytes, so only the largest
// bound of a body counts.
Bytes proven_bytes(const PlannedBodies& bodies, BoundScope scope) {
  Bytes most;
  for (const auto& plan : bodies.plans) {
    if (const Bound* bound = best_bound(plan->claims, scope)) most = std::max(most, bound->bytes);
  }
  return most;
}

bool need_the_same(const Kernel& a, const Kernel& b) {
  return a.scratch == b.scratch && a.in_place == b.in_place && a.may_alias_views == b.may_alias_views;
}

// Whether some plan of these bodies with other kernels may need less.
bool may_have_lighter_bodies(const BodyPlans& bodies) {
  const auto is_for_its_kernels = [](const auto& plan) {
    return !plan->claims.bounds.empty() && plan->claims.bounds.front().scope == BoundScope::chosen_kernels;
  };
  return !bodies.lightest.empty() ||
         std::any_of(bodies.fastest.begin(), bodies.fastest.end(), [&](const PlannedBodies& inside) {
           return std::any_of(inside.plans.begin(), inside.plans.end(), is_for_its_kernels);
         });
}

// Whether the kernel may write the output over an input that dies at the node in some order. `is_certain`: in every
// order.
bool writes_over_input(const Graph& graph, NodeId id, const Kernel& kernel, std::size_t output, bool is_certain) {
  return std::any_of(kernel.in_place.begin(), kernel.in_place.end(), [&](const std::pair<int, int>& pair) {
    if (static_cast<std::size_t>(pair.second) != output) return false;
    const TensorId from = *graph.node(id).inputs[static_cast<std::size_t>(pair.first)];
    const bool may_die = graph.tensor(from).producer && !graph.is_needed_at_end(from);
    return may_die && (!is_certain || graph.readers(from).size() == 1);
  });
}

// The tensors that nodes write into memory of the caller: the next contents of states that no node reads. With
// --outputs caller, these are the outputs.
Flags<TensorId> written_into_states(const Graph& graph) {
  Flags<TensorId> written(graph.tensors().size());
  for (const StateUpdate& update : graph.state_updates()) {
    const bool is_free = graph.readers(update.state).empty() && graph.tensor(update.next).role == Role::temporary;
    if (is_free) written.set(update.next);
  }
  return written;
}

class Sorting {
 public:
  Sorting(const Task& task, const BodyPlans& bodies)
      : task_(task), graph_(task.graph), bodies_(bodies), is_in_state_(written_into_states(graph_)) {}

  KernelOptions sort() && {
    bool may_need_less = may_have_lighter_bodies(bodies_);
    std::vector<std::vector<Kernel>> offered;
    ChosenKernels least;
    offered.reserve(graph_.nodes().size());
    least.reserve(graph_.nodes().size());
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      std::vector<Kernel>& kernels = offered.emplace_back(task_.target.catalogue->kernels(graph_, id));
      LOWTIDE_CHECK(!kernels.empty(), "a catalogue has a kernel for every node");
      for (Kernel& kernel : kernels) kernel = permitted(std::move(kernel), task_.aliases);
      least.push_back(kernels.size() == 1 ? kernels.front() : least_of(kernels));
      may_need_less = may_need_less || !need_the_same(least[id], kernels.front());
    }
    const ViewTable views(graph_, least);
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      all_.of_node.push_back({});
      for (const Kernel& kernel : offered[id.index()]) add(id, kernel, !views.of(id).empty());
    }
    if (may_need_less) all_.least = std::move(least);
    return std::move(all_);
  }

 private:
  // With the fastest plans of its bodies, and with the lightest.
  void add(NodeId id, const Kernel& kernel, bool is_view) {
    const std::optional<Bytes> fastest = bytes_of(bodies_.fastest, id);
    const std::optional<Bytes> lightest = bytes_of(bodies_.lightest, id);
    const Bytes own = need_of(id, kernel, is_view);
    add_if_lighter(id, {.kernel = kernel, .has_lightest_bodies = false, .need = own + fastest.value_or(Bytes(0))});
    if (!lightest) return;
    add_if_lighter(id, {.kernel = kernel, .has_lightest_bodies = true, .need = own + *lightest});
  }

  void add_if_lighter(NodeId id, const KernelOption& option) {
    std::vector<KernelOption>& options = all_.of_node[id];
    if (options.empty() || option.need < options.back().need) options.push_back(option);
  }

  static std::optional<Bytes> bytes_of(const std::vector<PlannedBodies>& bodies, NodeId id) {
    const PlannedBodies* inside = bodies_of(bodies, id);
    return inside != nullptr ? std::optional(inside->bytes) : std::nullopt;
  }

  [[nodiscard]] Bytes need_of(NodeId id, const Kernel& kernel, bool is_view) const {
    Bytes need = kernel.scratch;
    const std::vector<std::optional<TensorId>>& outputs = graph_.node(id).outputs;
    for (std::size_t at = 0; at < outputs.size(); ++at) {
      if (!outputs[at] || is_in_state_.test(*outputs[at])) continue;
      if (writes_over_input(graph_, id, kernel, at, true)) continue;
      const Bytes size = graph_.tensor(*outputs[at]).size;
      need += writes_over_input(graph_, id, kernel, at, false) ? Bytes(size.count() / 2) : size;
    }
    return is_view && kernel.may_alias_views ? Bytes(need.count() / 2) : need;
  }

  const Task& task_;
  const Graph& graph_;
  const BodyPlans& bodies_;
  const Flags<TensorId> is_in_state_;
  KernelOptions all_;
};

// What nodes with these kernels need in every plan of the scope. nullopt if that is what `kernels` say.
// The bound of a body counts whole units of the alignment. But the last buffer of the body need not fill its last unit,
// and scratch of the kernel may follow right after it. So only one byte of the last unit is certain.
std::optional<ChosenKernels> least_with_bodies(const Task& task, const ChosenKernels& kernels,
                                               const std::vector<PlannedBodies>& bodies, BoundScope scope) {
  const std::vector<NodeId> views = views_with_scratch(task.graph, kernels);
  if (bodies.empty() && views.empty()) return std::nullopt;
  const Bytes uncertain = alignments_of(task.target).least - Bytes(1);
  ChosenKernels least = kernels;
  for (const PlannedBodies& inside : bodies) {
    const Bytes proven = proven_bytes(inside, scope);
    least[inside.node].scratch += proven > uncertain ? proven - uncertain : Bytes(0);
  }
  for (NodeId id : views) least[id].scratch = Bytes(0);
  return least;
}

}  // namespace

bool KernelOptions::has_lighter() const {
  return std::any_of(of_node.begin(), of_node.end(), [](const auto& options) { return options.size() > 1; });
}

const ChosenKernels& NodeKernels::least(BoundScope scope) const {
  if (scope == BoundScope::all_plans && least_all_plans) return *least_all_plans;
  if (scope != BoundScope::chosen_kernels && least_run_once) return *least_run_once;
  return least_chosen_kernels ? *least_chosen_kernels : planned;
}

KernelOptions kernel_options(const Task& task, const BodyPlans& bodies) { return Sorting(task, bodies).sort(); }

OptionIndices fastest_of(const KernelOptions& options) { return OptionIndices(options.of_node.size(), 0); }

OptionIndices lightest_of(const KernelOptions& options) {
  OptionIndices indices;
  for (const std::vector<KernelOption>& each : options.of_node) indices.push_back(each.size() - 1);
  return indices;
}

KernelChoice choose_kernels(const Task& task, const KernelOptions& options, const BodyPlans& bodies,
                            OptionIndices indices) {
  KernelChoice choice{.indices = std::move(indices), .kernels = {}, .bodies = {}};
  ChosenKernels& planned = choice.kernels.planned;
  planned.reserve(task.graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(task.graph.nodes().size())) {
    const KernelOption& option = options.of_node[id][choice.indices[id]];
    planned.push_back(option.kernel);
    const PlannedBodies* inside = bodies_of(option.has_lightest_bodies ? bodies.lightest : bodies.fastest, id);
    if (inside != nullptr) choice.bodies.push_back(*inside);
  }
  NodeKernels& kernels = choice.kernels;
  kernels.least_chosen_kernels = least_with_bodies(task, planned, choice.bodies, BoundScope::chosen_kernels);
  kernels.has_other_kernels = options.least.has_value();
  const ChosenKernels& least = options.least ? *options.least : planned;
  if (options.least || !choice.bodies.empty()) {
    kernels.least_run_once = least_with_bodies(task, least, choice.bodies, BoundScope::run_once);
    if (!kernels.least_run_once) kernels.least_run_once = least;
  }
  if (!choice.bodies.empty()) {
    kernels.least_all_plans = least_with_bodies(task, least, choice.bodies, BoundScope::all_plans);
  }
  for (const PlannedBodies& inside : choice.bodies) planned[inside.node].scratch += inside.bytes;
  return choice;
}

ExchangeCost exchange_cost(const Graph& graph, const KernelOptions& options, const OptionIndices& indices,
                           const AliasClasses& aliases) {
  ExchangeCost cost;
  for (NodeId id : all_ids<NodeId>(indices.size())) {
    if (indices[id] == 0 || aliases.step_kinds[id] != StepKind::compute) continue;
    ++cost.nodes;
    const KernelOption& fastest = options.of_node[id].front();
    const KernelOption& option = options.of_node[id][indices[id]];
    const bool is_known =
        !option.has_lightest_bodies && fastest.kernel.cost_seconds > 0 && option.kernel.cost_seconds > 0;
    if (!is_known) cost.picoseconds = std::nullopt;
    if (!cost.picoseconds) continue;
    *cost.picoseconds +=
        estimated_picoseconds(graph, id, option.kernel) - estimated_picoseconds(graph, id, fastest.kernel);
  }
  return cost;
}

}  // namespace lowtide::pipeline_internal
