// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/order_problem.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/analysis/content.h"
#include "lowtide/analysis/view_table.h"
#include "lowtide/base/disjoint_sets.h"

namespace lowtide::schedule_internal {
namespace {

using Index = OrderProblem::Index;

void sort_unique(std::vector<Index>& indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
}

class FromGraph {
 public:
  FromGraph(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options)
      : graph_(graph), kernels_(&kernels), options_(options), values_of_(graph.tensors().size()) {
    if (!options.views || !options.in_place) kernels_ = &permitted_.emplace(permitted(kernels, options));
    problem_.nodes.resize(graph_.nodes().size());
    for (OrderProblem::Node& node : problem_.nodes) node.steps.resize(1);
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) add_node(id);
  }

  OrderProblem make(const ContentLimits& limits) && {
    const Content content(graph_, *kernels_,
                          {.alignment = options_.bound_alignment(),
                           .inputs_in_arena = options_.inputs_live_throughout,
                           .limits = limits});
    for (const std::vector<Holder>& holders : content.pieces()) add_piece(holders);
    return std::move(*this).finish();
  }

  OrderProblem make(Sharing sharing) && {
    IdVector<TensorId, std::vector<TensorId>> members(graph_.tensors().size());
    DisjointSets<TensorId> groups(graph_.tensors().size());  // tensors that share bytes
    const ViewTable views(graph_, *kernels_);
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (views.is_partial(id) && sharing == Sharing::nothing) continue;
      for (const TableView& view : views.of(id)) {
        if (view.must_copy) continue;
        groups.join(view.part, view.whole);
        problem_.nodes[id.index()].steps[0].scratch = 0;  // no kernel runs
      }
    }
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) members[groups.find(id)].push_back(id);
    for (const std::vector<TensorId>& group : members) add_group(group);
    return std::move(*this).finish();
  }

 private:
  OrderProblem finish() && {
    for (OrderProblem::Node& node : problem_.nodes) {
      sort_unique(node.steps[0].values);
      for (Index value : node.steps[0].values) ++problem_.values[value].users;
    }
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) add_chances(id);
    return std::move(problem_);
  }

  // Adds one value, unless a tensor of the group is outside the arena. If the next content of a state is as large as
  // the largest tensor, adds none either, because the whole group may then lie in the state.
  void add_group(const std::vector<TensorId>& group) {
    std::int64_t size = 0;
    std::int64_t in_state = 0;
    std::vector<Holder> holders;
    for (TensorId id : group) {
      const Tensor& tensor = graph_.tensor(id);
      const bool is_placed_input = options_.inputs_live_throughout && tensor.role == Role::input && !tensor.is_captured;
      if (!tensor.producer && !is_placed_input) return;
      size = std::max(size, round_up(tensor.size, options_.alignment).count());
      if (tensor.is_next_state) in_state = size;
      holders.push_back({id, 0});
    }
    if (size > in_state) add_value(holders, holders.size(), size);
  }

  void add_node(NodeId id) {
    OrderProblem::Node& node = problem_.nodes[id.index()];
    for (TensorId tensor : graph_.reads(id)) {
      if (graph_.tensor(tensor).producer) node.before.push_back(graph_.tensor(tensor).producer->value());
    }
    for (NodeId before : graph_.node(id).control_inputs) node.before.push_back(before.value());
    sort_unique(node.before);
    node.steps[0].scratch = (*kernels_)[id].scratch.count();
    node.steps[0].origin = id.value();
  }

  // The holder with the most bytes comes first, and only the largest live holder counts. So the bytes that the h-th
  // holder has beyond the next one are needed while any of the first h holders is live. They are live without a pause,
  // because the bytes that a later holder repeats stay somewhere in memory from the source on.
  void add_piece(const std::vector<Holder>& holders) {
    for (std::size_t at = 0; at < holders.size(); ++at) {
      const std::int64_t next = at + 1 < holders.size() ? holders[at + 1].bytes : 0;
      if (holders[at].bytes > next) add_value(holders, at + 1, holders[at].bytes - next);
    }
  }

  void add_value(const std::vector<Holder>& holders, std::size_t count, std::int64_t size) {
    const auto index = static_cast<Index>(problem_.values.size());
    OrderProblem::Value value{.size = size};
    bool is_used = false;
    for (std::size_t at = 0; at < count; ++at) {
      const TensorId id = holders[at].tensor;
      const Tensor& tensor = graph_.tensor(id);
      values_of_[id].push_back(index);
      if (tensor.producer) problem_.nodes[tensor.producer->index()].steps[0].values.push_back(index);
      for (NodeId reader : graph_.readers(id)) problem_.nodes[reader.index()].steps[0].values.push_back(index);
      is_used = is_used || tensor.producer || !graph_.readers(id).empty();
      value.is_there_first = value.is_there_first || !tensor.producer;
      value.is_kept = value.is_kept || !tensor.producer || graph_.is_needed_at_end(id);
    }
    // A value that exists from the start is also kept. Without users, it is a part of the base.
    if (!is_used) problem_.base += std::exchange(value.size, 0);
    problem_.values.push_back(value);
  }

  // The rules of analysis/bounds.cc: an operand may be overwritten if a node writes it and nothing needs it at the end.
  void add_chances(NodeId id) {
    OrderProblem::Step& step = problem_.nodes[id.index()].steps[0];
    for (const auto& [input, output] : (*kernels_)[id].in_place) {
      const TensorId from = *graph_.node(id).inputs[static_cast<std::size_t>(input)];
      const TensorId to = *graph_.node(id).outputs[static_cast<std::size_t>(output)];
      if (!graph_.tensor(from).producer || graph_.is_needed_at_end(from)) continue;
      step.dying.insert(step.dying.end(), values_of_[from].begin(), values_of_[from].end());
      step.born.insert(step.born.end(), values_of_[to].begin(), values_of_[to].end());
    }
    sort_unique(step.dying);
    sort_unique(step.born);
  }

  const Graph& graph_;
  std::optional<ChosenKernels> permitted_;
  const ChosenKernels* kernels_;  // which the options permit
  const AliasOptions& options_;
  IdVector<TensorId, std::vector<Index>> values_of_;
  OrderProblem problem_;
};

// The separators. A node n is one if each node before it has a direct successor at or before n. In addition, each node
// after it must have a direct predecessor at or after n. Then all nodes before n lead to n, and n leads to all nodes
// after it.
std::vector<Index> cuts_of(const OrderProblem& problem) {
  const auto count = static_cast<Index>(problem.nodes.size());
  std::vector<Index> first_after(count, count);
  std::vector<std::int64_t> last_before(count, -1);
  for (Index node = 0; node < count; ++node) {
    for (Index before : problem.nodes[node].before) {
      first_after[before] = std::min(first_after[before], node);
      last_before[node] = std::max<std::int64_t>(last_before[node], before);
    }
  }
  std::vector<std::int64_t> least_behind(count, count);  // the least `last_before` of all nodes after a node
  for (Index node = count; node-- > 1;) least_behind[node - 1] = std::min(least_behind[node], last_before[node]);
  std::vector<Index> cuts;
  Index most_before = 0;  // the largest `first_after` of all before the node
  for (Index node = 0; node < count; ++node) {
    if (most_before <= node && least_behind[node] >= node) cuts.push_back(node);
    most_before = std::max(most_before, first_after[node]);
  }
  return cuts;
}

// The nodes [begin, end) as a problem.
OrderSubproblem subproblem_of(const OrderProblem& whole, Index begin, Index end, const std::vector<Index>& first_user,
                              const std::vector<Index>& last_user) {
  OrderSubproblem subproblem;
  std::vector<Index> touched;
  for (Index node = begin; node < end; ++node) {
    subproblem.nodes.push_back(node);
    for (const OrderProblem::Step& step : whole.nodes[node].steps) {
      touched.insert(touched.end(), step.values.begin(), step.values.end());
    }
  }
  sort_unique(touched);
  const auto local = [&](Index value) {
    return static_cast<Index>(std::lower_bound(touched.begin(), touched.end(), value) - touched.begin());
  };
  for (Index value : touched) {
    OrderProblem::Value inside = whole.values[value];
    inside.users = 0;
    inside.is_there_first = inside.is_there_first || first_user[value] < begin;
    inside.is_kept = inside.is_kept || last_user[value] >= end;
    subproblem.problem.values.push_back(inside);
  }
  for (Index node = begin; node < end; ++node) {
    OrderProblem::Node inside = whole.nodes[node];
    std::erase_if(inside.before, [&](Index before) { return before < begin; });
    for (Index& before : inside.before) before -= begin;
    for (OrderProblem::Step& step : inside.steps) {
      for (std::vector<Index>* values : {&step.values, &step.dying, &step.born}) {
        for (Index& value : *values) value = local(value);
      }
      for (Index value : step.values) ++subproblem.problem.values[value].users;
    }
    subproblem.problem.nodes.push_back(std::move(inside));
  }
  return subproblem;
}

}  // namespace

OrderProblem order_problem(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options,
                           const ContentLimits& limits) {
  return FromGraph(graph, kernels, options).make(limits);
}

OrderProblem order_problem(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options,
                           Sharing sharing) {
  return FromGraph(graph, kernels, options).make(sharing);
}

OrderProblem without_small_values(OrderProblem problem, std::int64_t least) {
  for (OrderProblem::Value& value : problem.values) {
    if (value.size < least) value.size = 0;
  }
  return problem;
}

OrderProblem reversed(const OrderProblem& problem) {
  const auto count = static_cast<Index>(problem.nodes.size());
  OrderProblem out{.nodes = std::vector<OrderProblem::Node>(count), .values = problem.values, .base = problem.base};
  for (OrderProblem::Value& value : out.values) std::swap(value.is_there_first, value.is_kept);
  for (Index node = 0; node < count; ++node) {
    OrderProblem::Node& turned = out.nodes[count - 1 - node];
    turned.steps.assign(problem.nodes[node].steps.rbegin(), problem.nodes[node].steps.rend());
    for (OrderProblem::Step& step : turned.steps) std::swap(step.dying, step.born);
    for (Index before : problem.nodes[node].before) out.nodes[count - 1 - before].before.push_back(count - 1 - node);
  }
  for (OrderProblem::Node& node : out.nodes) std::sort(node.before.begin(), node.before.end());
  return out;
}

std::vector<OrderSubproblem> subproblems_of(const OrderProblem& problem) {
  const auto count = static_cast<Index>(problem.nodes.size());
  std::vector<Index> first_user(problem.values.size(), count);
  std::vector<Index> last_user(problem.values.size(), 0);
  for (Index node = 0; node < count; ++node) {
    for (const OrderProblem::Step& step : problem.nodes[node].steps) {
      for (Index value : step.values) {
        first_user[value] = std::min(first_user[value], node);
        last_user[value] = std::max(last_user[value], node);
      }
    }
  }
  // The bytes that are live before each node. A value is live from after its first user up to its last user.
  std::vector<std::int64_t> live(count + 2, 0);
  for (Index value = 0; value < problem.values.size(); ++value) {
    const OrderProblem::Value& one = problem.values[value];
    if (one.users == 0) continue;
    live[one.is_there_first ? 0 : first_user[value] + 1] += one.size;
    if (!one.is_kept) live[last_user[value] + 1] -= one.size;
  }
  live[0] += problem.base;
  for (std::size_t at = 1; at < live.size(); ++at) live[at] += live[at - 1];

  std::vector<Index> ends = cuts_of(problem);
  for (Index& end : ends) ++end;
  if (ends.empty() || ends.back() != count) ends.push_back(count);
  std::vector<OrderSubproblem> subproblems;
  Index begin = 0;
  for (Index end : ends) {
    subproblems.push_back(subproblem_of(problem, begin, end, first_user, last_user));
    // The base of the subproblem: the bytes that are live at its start and that it does not touch.
    OrderProblem& inside = subproblems.back().problem;
    inside.base = live[begin];
    for (const OrderProblem::Value& value : inside.values) inside.base -= value.is_there_first ? value.size : 0;
    begin = end;
  }
  return subproblems;
}

}  // namespace lowtide::schedule_internal
