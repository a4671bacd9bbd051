// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/bounds.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "lowtide/analysis/views.h"

namespace lowtide {
namespace {

constexpr std::size_t kLanes = 64;
using Lanes = std::uint64_t;

// Sets of tensors that may come to share bytes, whoever decides: only `find` and `join`.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) {
    for (TensorId id : all_ids<TensorId>(count)) parent_[id] = id;
  }
  TensorId find(TensorId id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }
  // The lower id leads.
  void join(TensorId a, TensorId b) {
    a = find(a);
    b = find(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  IdVector<TensorId, TensorId> parent_;
};

// The views that could ever be joined. A concat of something that must stay where it is (an input, a constant) copies.
std::vector<View> possible_views(const Graph& graph, NodeId id) {
  const ViewKind kind = graph.op(id).traits.view;
  if (kind == ViewKind::none) return {};
  std::vector<View> views = views_of(graph, id);
  const bool has_fixed_part = std::any_of(views.begin(), views.end(), [&](const View& view) { return !graph.tensor(view.part).producer; });
  return has_fixed_part ? std::vector<View>() : views;
}

class MustBeLive {
 public:
  MustBeLive(const Graph& graph, const ChosenKernels& kernels, const BoundOptions& options)
      : graph_(graph), kernels_(kernels), options_(options), weight_(graph.tensors().size(), 0) {
    group_tensors();
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      if (graph.tensor(id).producer || counts_as_input(id)) members_.push_back(id);
    }
    std::stable_sort(members_.begin(), members_.end(), [&](TensorId a, TensorId b) { return leader_[a] < leader_[b]; });
  }

  // The bound of each of at most 64 nodes.
  std::array<std::int64_t, kLanes> bounds(const std::vector<NodeId>& nodes) {
    mark_relatives(nodes);
    std::array<std::int64_t, kLanes> sum{};
    for (std::size_t lane = 0; lane < nodes.size(); ++lane) sum[lane] = kernels_[nodes[lane]].scratch.count();
    std::array<std::int64_t, kLanes> group_most{};
    Lanes in_group = 0;
    for (std::size_t at = 0; at < members_.size(); ++at) {
      const TensorId id = members_[at];
      Lanes lanes = live_lanes(id) & ~saved_[id];
      in_group |= lanes;
      for (; lanes != 0; lanes &= lanes - 1) {
        std::int64_t& most = group_most[static_cast<std::size_t>(__builtin_ctzll(lanes))];
        most = std::max(most, weight_[id]);
      }
      if (at + 1 == members_.size() || leader_[members_[at + 1]] != leader_[id]) {
        for (; in_group != 0; in_group &= in_group - 1) {
          const auto lane = static_cast<std::size_t>(__builtin_ctzll(in_group));
          sum[lane] += std::exchange(group_most[lane], 0);
        }
      }
    }
    for (NodeId node : nodes) forget_saved(node);
    for (std::int64_t& one : sum) one = round_up(Bytes(one), options_.alignment).count();
    return sum;
  }

 private:
  [[nodiscard]] bool counts_as_input(TensorId id) const {
    return options_.inputs_live_throughout && graph_.tensor(id).role == Role::input && !graph_.tensor(id).is_captured;
  }

  // Two partitions: by views, within which only the largest member counts; and by everything that can put tensors into
  // one buffer, where one with parts (slice, split, concat) forbids rounding up the members one by one.
  void group_tensors() {
    const std::size_t count = graph_.tensors().size();
    Groups by_view(count);
    Groups by_buffer(count);
    std::vector<TensorId> with_parts;
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      const ViewKind kind = graph_.op(id).traits.view;
      for (const View& view : possible_views(graph_, id)) {
        by_view.join(view.part, view.whole);
        by_buffer.join(view.part, view.whole);
        if (kind != ViewKind::whole && kind != ViewKind::expand) with_parts.push_back(view.whole);
      }
      const Node& node = graph_.node(id);
      for (const auto& [input, output] : kernels_[id].in_place) {
        by_buffer.join(*node.inputs[static_cast<std::size_t>(input)], *node.outputs[static_cast<std::size_t>(output)]);
      }
    }
    IdVector<TensorId, char> has_parts(count, 0);
    for (TensorId id : with_parts) has_parts[by_buffer.find(id)] = 1;
    // A view of an input or constant takes no bytes in the arena; only what is handed out must be copied.
    IdVector<TensorId, char> may_be_free(count, 0);
    for (TensorId id : all_ids<TensorId>(count)) {
      if (!graph_.tensor(id).producer && !counts_as_input(id)) may_be_free[by_view.find(id)] = 1;
    }
    leader_ = IdVector<TensorId, TensorId>(count);
    saved_ = IdVector<TensorId, Lanes>(count, 0);
    for (TensorId id : all_ids<TensorId>(count)) {
      leader_[id] = by_view.find(id);
      const Bytes size = graph_.tensor(id).size;
      weight_[id] = (has_parts[by_buffer.find(id)] != 0 ? size : round_up(size, options_.alignment)).count();
      if (may_be_free[leader_[id]] != 0 && graph_.tensor(id).role != Role::output) weight_[id] = 0;
    }
  }

  // Bit i of before_[n]: n is node i or must run before it; after_ likewise.
  void mark_relatives(const std::vector<NodeId>& nodes) {
    const std::size_t count = graph_.nodes().size();
    before_.assign(count, 0);
    after_.assign(count, 0);
    for (std::size_t lane = 0; lane < nodes.size(); ++lane) {
      before_[nodes[lane].index()] |= Lanes{1} << lane;
      after_[nodes[lane].index()] |= Lanes{1} << lane;
    }
    for (std::size_t at = 0; at < count; ++at) {
      const NodeId id(static_cast<std::uint32_t>(at));
      for (TensorId tensor : graph_.reads(id)) {
        if (graph_.tensor(tensor).producer) after_[at] |= after_[graph_.tensor(tensor).producer->index()];
      }
      for (NodeId control : graph_.node(id).control_inputs) after_[at] |= after_[control.index()];
    }
    for (std::size_t at = count; at-- > 0;) {
      const NodeId id(static_cast<std::uint32_t>(at));
      const Lanes lanes = before_[at];
      if (lanes == 0) continue;
      for (TensorId tensor : graph_.reads(id)) {
        if (graph_.tensor(tensor).producer) before_[graph_.tensor(tensor).producer->index()] |= lanes;
      }
      for (NodeId control : graph_.node(id).control_inputs) before_[control.index()] |= lanes;
    }
    for (std::size_t lane = 0; lane < nodes.size(); ++lane) mark_saved(nodes[lane], Lanes{1} << lane);
  }

  [[nodiscard]] Lanes live_lanes(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    const Lanes born = tensor.producer ? before_[tensor.producer->index()] : ~Lanes{0};
    if (born == 0 || tensor.role == Role::output || !tensor.producer) return born;
    Lanes needed = 0;
    for (NodeId reader : graph_.readers(id)) needed |= after_[reader.index()];
    // A tensor that nobody reads lives while its producer writes it.
    if (graph_.readers(id).empty()) needed = after_[tensor.producer->index()];
    return born & needed;
  }

  // An output of node v that v may write over one of its inputs need not take bytes of its own, unless something else
  // must read that input after v.
  void mark_saved(NodeId id, Lanes lane) {
    const Node& node = graph_.node(id);
    for (const auto& [input, output] : kernels_[id].in_place) {
      const TensorId from = *node.inputs[static_cast<std::size_t>(input)];
      if (!graph_.tensor(from).producer || graph_.tensor(from).role == Role::output) continue;
      bool is_needed_later = false;
      for (NodeId reader : graph_.readers(from)) {
        is_needed_later = is_needed_later || (reader != id && (after_[reader.index()] & lane) != 0);
      }
      if (!is_needed_later) saved_[*node.outputs[static_cast<std::size_t>(output)]] |= lane;
    }
  }

  void forget_saved(NodeId id) {
    for (const auto& pair : kernels_[id].in_place) {
      saved_[*graph_.node(id).outputs[static_cast<std::size_t>(pair.second)]] = 0;
    }
  }

  const Graph& graph_;
  const ChosenKernels& kernels_;
  const BoundOptions& options_;
  IdVector<TensorId, std::int64_t> weight_;
  IdVector<TensorId, TensorId> leader_;
  IdVector<TensorId, Lanes> saved_;
  std::vector<TensorId> members_;  // what takes room, by leader
  std::vector<Lanes> before_;
  std::vector<Lanes> after_;
};

std::vector<NodeId> by_falling_load(const std::vector<NodeId>& order, const std::vector<Bytes>& profile) {
  std::vector<std::uint32_t> steps(order.size());
  std::iota(steps.begin(), steps.end(), 0U);
  std::stable_sort(steps.begin(), steps.end(), [&](std::uint32_t a, std::uint32_t b) { return profile[a] > profile[b]; });
  std::vector<NodeId> nodes;
  nodes.reserve(order.size());
  for (std::uint32_t step : steps) nodes.push_back(order[step]);
  return nodes;
}

// Whether some output of the node may lie in the bytes of an input that dies there.
bool may_overwrite(const Graph& graph, const Node& node, const Kernel& kernel, TensorId output) {
  return std::any_of(kernel.in_place.begin(), kernel.in_place.end(), [&](const std::pair<int, int>& pair) {
    const TensorId from = *node.inputs[static_cast<std::size_t>(pair.first)];
    return node.outputs[static_cast<std::size_t>(pair.second)] == output && graph.tensor(from).producer.has_value();
  });
}

// Reads, writes and scratch of one node, of tensors that views may join only the largest.
std::int64_t step_bytes(const Graph& graph, const Kernel& kernel, NodeId id, Groups& groups, const IdVector<TensorId, char>& may_be_free) {
  const Node& node = graph.node(id);
  std::vector<std::pair<TensorId, std::int64_t>> sizes;
  const auto count = [&](TensorId tensor) {
    const TensorId group = groups.find(tensor);
    if (may_be_free[group] != 0 && graph.tensor(tensor).role != Role::output) return;
    sizes.emplace_back(group, graph.tensor(tensor).size.count());
  };
  for (TensorId tensor : graph.reads(id)) {
    if (graph.tensor(tensor).producer) count(tensor);
  }
  for (const std::optional<TensorId>& output : node.outputs) {
    if (output && !may_overwrite(graph, node, kernel, *output)) count(*output);
  }
  std::sort(sizes.begin(), sizes.end());
  std::int64_t sum = kernel.scratch.count();
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    const bool is_largest_of_group = at + 1 == sizes.size() || sizes[at + 1].first != sizes[at].first;
    if (is_largest_of_group) sum = must_add(sum, sizes[at].second);
  }
  return sum;
}

}  // namespace

LoadBound largest_step(const Graph& graph, const ChosenKernels& kernels, const BoundOptions& options) {
  if (graph.nodes().empty()) return {Bytes(0), "none", NodeId()};
  Groups groups(graph.tensors().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    for (const View& view : possible_views(graph, id)) groups.join(view.part, view.whole);
  }
  IdVector<TensorId, char> may_be_free(graph.tensors().size(), 0);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (!graph.tensor(id).producer) may_be_free[groups.find(id)] = 1;
  }
  LoadBound bound{Bytes(-1), "largest_step", NodeId()};
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const Bytes bytes = round_up(Bytes(step_bytes(graph, kernels[id], id, groups, may_be_free)), options.alignment);
    if (bytes > bound.bytes) {
      bound.bytes = bytes;
      bound.node = id;
    }
  }
  return bound;
}

LoadBound load_bound(const Graph& graph, const ChosenKernels& kernels, const std::vector<NodeId>& order,
                     const std::vector<Bytes>& profile, const BoundOptions& options) {
  if (order.empty()) return {Bytes(0), "none", NodeId()};
  LoadBound bound{Bytes(0), "must_be_live", order[0]};
  MustBeLive must_be_live(graph, kernels, options);
  const std::vector<NodeId> nodes = by_falling_load(order, profile);
  const Bytes highest = *std::max_element(profile.begin(), profile.end());
  std::int64_t edges = 0;
  for (NodeId id : order) edges += static_cast<std::int64_t>(graph.reads(id).size());
  const std::int64_t cost = 2 * edges + static_cast<std::int64_t>(nodes.size() + graph.tensors().size());
  std::int64_t effort = options.effort;
  for (std::size_t first = 0; first < nodes.size(); first += kLanes) {
    if (effort <= 0) {
      bound.is_complete = false;
      break;
    }
    const std::vector<NodeId> lanes(nodes.begin() + static_cast<std::ptrdiff_t>(first),
                                    nodes.begin() + static_cast<std::ptrdiff_t>(std::min(first + kLanes, nodes.size())));
    const auto sums = must_be_live.bounds(lanes);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      if (sums[lane] > bound.bytes.count()) {
        bound.bytes = Bytes(sums[lane]);
        bound.node = lanes[lane];
      }
    }
    // What must live is part of what lives in any order, so the load of this one is the most a bound can reach.
    if (bound.bytes >= highest) break;
    effort -= cost;
  }
  return bound;
}

}  // namespace lowtide
