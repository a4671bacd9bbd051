// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/bounds.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "lowtide/analysis/content.h"

namespace lowtide {
namespace {

constexpr std::size_t kNodesAtOnce = 64;

// A set of the nodes that are examined at once, one bit each.
using NodeBits = std::uint64_t;

ContentOptions content_options(const BoundOptions& options, BoundScope scope) {
  return {.alignment = options.alignment,
          .inputs_in_arena = options.inputs_live_throughout,
          .scope = scope,
          .limits = options.content};
}

// Computes the live sets of 64 nodes at a time.
class LiveSets {
 public:
  LiveSets(const Graph& graph, const ChosenKernels& kernels, const BoundOptions& options)
      : graph_(graph),
        kernels_(kernels),
        alignment_(options.alignment),
        inputs_live_throughout_(options.inputs_live_throughout),
        content_(graph, kernels, content_options(options, BoundScope::run_once)),
        live_(graph.tensors().size(), 0) {}

  [[nodiscard]] const Content& content() const { return content_; }

  // The bytes that are live when the run ends: all outputs and, in the body of a Loop or Scan, all inputs. They share
  // no bytes and all lie in the arena, so each counts in full.
  [[nodiscard]] Bytes at_end() const {
    std::int64_t sum = 0;
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) sum += stays(id) ? content_.alone(id) : 0;
    return round_up(Bytes(sum), alignment_);
  }

  // Returns the bound of each of at most 64 nodes.
  std::array<std::int64_t, kNodesAtOnce> bounds(const std::vector<NodeId>& nodes) {
    mark_relatives(nodes);
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) live_[id] = where_live(id);
    for (std::size_t bit = 0; bit < nodes.size(); ++bit) clear_saved(nodes[bit], NodeBits{1} << bit);
    std::array<std::int64_t, kNodesAtOnce> sum{};
    for (std::size_t bit = 0; bit < nodes.size(); ++bit) sum[bit] = kernels_[nodes[bit]].scratch.count();
    for (const std::vector<Holder>& holders : content_.pieces()) {
      NodeBits counted = 0;
      for (const Holder& holder : holders) {
        // The largest holder comes first, so the first live one counts.
        for (NodeBits left = live_[holder.tensor] & ~counted; left != 0; left &= left - 1) {
          sum[static_cast<std::size_t>(__builtin_ctzll(left))] += holder.bytes;
        }
        counted |= live_[holder.tensor];
      }
    }
    for (std::int64_t& one : sum) one = round_up(Bytes(one), alignment_).count();
    return sum;
  }

  // What bounds() counts at one node, tensor by tensor. Without a node, what at_end() counts.
  LiveSet set_of(std::optional<NodeId> node) {
    const IdVector<TensorId, std::int64_t> counted = node ? counted_at(*node) : counted_at_end();
    LiveSet set{.tensors = {}, .scratch = node ? kernels_[*node].scratch : Bytes(0)};
    Bytes sum = set.scratch;
    for (std::int64_t bytes : counted) sum += Bytes(bytes);
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      if (counted[id] > 0) set.tensors.push_back({id, Bytes(counted[id])});
    }
    std::stable_sort(set.tensors.begin(), set.tensors.end(),
                     [](const LiveSet::Member& a, const LiveSet::Member& b) { return a.bytes > b.bytes; });
    set.bytes = round_up(sum, alignment_);
    return set;
  }

 private:
  // Whether the tensor occupies bytes when the run ends.
  [[nodiscard]] bool stays(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.producer) return tensor.role == Role::output;
    return inputs_live_throughout_ && tensor.role == Role::input && !tensor.is_captured;
  }

  // What bounds() counts at a node, by tensor.
  IdVector<TensorId, std::int64_t> counted_at(NodeId node) {
    IdVector<TensorId, std::int64_t> counted(graph_.tensors().size(), 0);
    mark_relatives({node});
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) live_[id] = where_live(id) & 1;
    clear_saved(node, 1);
    for (const std::vector<Holder>& holders : content_.pieces()) {
      const auto lives =
          std::find_if(holders.begin(), holders.end(), [&](const Holder& holder) { return live_[holder.tensor] != 0; });
      if (lives != holders.end()) counted[lives->tensor] += lives->bytes;
    }
    return counted;
  }

  [[nodiscard]] IdVector<TensorId, std::int64_t> counted_at_end() const {
    IdVector<TensorId, std::int64_t> counted(graph_.tensors().size(), 0);
    for (TensorId id : all_ids<TensorId>(counted.size())) counted[id] = stays(id) ? content_.alone(id) : 0;
    return counted;
  }

  // Bit i of before_[n] is set if n is node i or must run before it. Bit i of after_[n] is set if n is node i or must
  // run after it.
  void mark_relatives(const std::vector<NodeId>& nodes) {
    const std::size_t count = graph_.nodes().size();
    before_.assign(count, 0);
    after_.assign(count, 0);
    for (std::size_t bit = 0; bit < nodes.size(); ++bit) {
      before_[nodes[bit].index()] |= NodeBits{1} << bit;
      after_[nodes[bit].index()] |= NodeBits{1} << bit;
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
      if (before_[at] == 0) continue;
      for (TensorId tensor : graph_.reads(id)) {
        if (graph_.tensor(tensor).producer) before_[graph_.tensor(tensor).producer->index()] |= before_[at];
      }
      for (NodeId control : graph_.node(id).control_inputs) before_[control.index()] |= before_[at];
    }
  }

  // The nodes at which the tensor is live in every order.
  [[nodiscard]] NodeBits where_live(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    if (!tensor.producer) return ~NodeBits{0};
    const NodeBits born = before_[tensor.producer->index()];
    if (born == 0 || graph_.is_needed_at_end(id)) return born;
    // A tensor without readers is live while its producer writes it.
    if (graph_.readers(id).empty()) return born & after_[tensor.producer->index()];
    NodeBits needed = 0;
    for (NodeId reader : graph_.readers(id)) needed |= after_[reader.index()];
    return born & needed;
  }

  // An output that node v may write over one of its inputs needs no bytes of its own, unless another node must read
  // that input after v.
  void clear_saved(NodeId id, NodeBits bit) {
    const Node& node = graph_.node(id);
    for (const auto& [input, output] : kernels_[id].in_place) {
      const TensorId from = *node.inputs[static_cast<std::size_t>(input)];
      if (!graph_.tensor(from).producer || graph_.is_needed_at_end(from)) continue;
      bool is_needed_later = false;
      for (NodeId reader : graph_.readers(from)) {
        is_needed_later = is_needed_later || (reader != id && (after_[reader.index()] & bit) != 0);
      }
      if (!is_needed_later) live_[*node.outputs[static_cast<std::size_t>(output)]] &= ~bit;
    }
  }

  const Graph& graph_;
  const ChosenKernels& kernels_;
  Bytes alignment_;
  bool inputs_live_throughout_;
  Content content_;
  IdVector<TensorId, NodeBits> live_;
  std::vector<NodeBits> before_;
  std::vector<NodeBits> after_;
};

// Whether the node may write the output over one of its inputs that a node computes.
bool may_overwrite(const Graph& graph, const Node& node, const Kernel& kernel, TensorId output) {
  return std::any_of(kernel.in_place.begin(), kernel.in_place.end(), [&](const std::pair<int, int>& pair) {
    const TensorId from = *node.inputs[static_cast<std::size_t>(pair.first)];
    return node.outputs[static_cast<std::size_t>(pair.second)] == output && graph.tensor(from).producer.has_value();
  });
}

// The nodes at which a tensor counts: its readers, and its producer unless it may write the tensor in place.
std::vector<NodeId> nodes_that_hold(const Graph& graph, const ChosenKernels& kernels, TensorId id) {
  std::vector<NodeId> nodes(graph.readers(id).begin(), graph.readers(id).end());
  const std::optional<NodeId> producer = graph.tensor(id).producer;
  if (producer && !may_overwrite(graph, graph.node(*producer), kernels[*producer], id)) nodes.push_back(*producer);
  return nodes;
}

// The bytes that each node needs by itself: what it reads and writes, and its scratch.
IdVector<NodeId, std::int64_t> sums_of_steps(const Graph& graph, const ChosenKernels& kernels, const Content& content) {
  IdVector<NodeId, std::int64_t> sum(graph.nodes().size(), 0);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) sum[id] = kernels[id].scratch.count();
  IdVector<NodeId, std::uint32_t> counted(graph.nodes().size(), 0);  // the last piece counted at a node, from 1
  std::uint32_t piece = 0;
  for (const std::vector<Holder>& holders : content.pieces()) {
    ++piece;
    for (const Holder& holder : holders) {
      for (NodeId node : nodes_that_hold(graph, kernels, holder.tensor)) {
        if (std::exchange(counted[node], piece) != piece) sum[node] += holder.bytes;
      }
    }
  }
  return sum;
}

// Returns the node with the largest sum, the first of equals. Requires: there is a node.
NodeId largest_of(const IdVector<NodeId, std::int64_t>& sums) {
  return NodeId(static_cast<std::uint32_t>(std::max_element(sums.begin(), sums.end()) - sums.begin()));
}

// Sorts the nodes so that those that are likely to have a high bound come first. They are sorted by load, and at equal
// load by what the node itself needs.
std::vector<NodeId> by_falling_load(const std::vector<NodeId>& order, const std::vector<Bytes>& profile,
                                    const IdVector<NodeId, std::int64_t>& sums) {
  std::vector<std::uint32_t> steps(order.size());
  std::iota(steps.begin(), steps.end(), 0U);
  std::stable_sort(steps.begin(), steps.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(profile[a], sums[order[a]]) > std::pair(profile[b], sums[order[b]]);
  });
  std::vector<NodeId> nodes;
  nodes.reserve(order.size());
  for (std::uint32_t step : steps) nodes.push_back(order[step]);
  return nodes;
}

// The work units for the bounds of 64 nodes.
std::int64_t cost_of_look(const Graph& graph, const Content& content) {
  std::int64_t edges = 0;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) edges += static_cast<std::int64_t>(graph.reads(id).size());
  return 2 * edges + static_cast<std::int64_t>(graph.nodes().size() + graph.tensors().size()) + content.holder_count();
}

}  // namespace

LoadBound working_set_bound(const Graph& graph, const ChosenKernels& kernels, BoundScope scope,
                            const BoundOptions& options) {
  if (graph.nodes().empty()) return {Bytes(0), "none", std::nullopt};
  const Content content(graph, kernels, content_options(options, scope));
  const IdVector<NodeId, std::int64_t> sums = sums_of_steps(graph, kernels, content);
  const NodeId node = largest_of(sums);
  return {round_up(Bytes(sums[node]), options.alignment), "working_set", node};
}

LiveSet live_set(const Graph& graph, const ChosenKernels& kernels, std::optional<NodeId> node,
                 const BoundOptions& options) {
  return LiveSets(graph, kernels, options).set_of(node);
}

LoadBound live_set_bound(const Graph& graph, const ChosenKernels& kernels, const std::vector<NodeId>& order,
                         const std::vector<Bytes>& profile, const BoundOptions& options) {
  LiveSets live_sets(graph, kernels, options);
  LoadBound bound{live_sets.at_end(), order.empty() ? "none" : "live_set", std::nullopt};
  if (order.empty()) return bound;
  const auto raise = [&](Bytes bytes, NodeId node) {
    if (bytes <= bound.bytes) return;
    bound.bytes = bytes;
    bound.node = node;
  };
  // What a node reads and writes must be live while it runs. This counts for every node, even without any effort.
  const IdVector<NodeId, std::int64_t> sums = sums_of_steps(graph, kernels, live_sets.content());
  const NodeId largest = largest_of(sums);
  raise(round_up(Bytes(sums[largest]), options.alignment), largest);
  const std::vector<NodeId> nodes = by_falling_load(order, profile, sums);
  const Bytes highest = *std::max_element(profile.begin(), profile.end());
  const std::int64_t cost = cost_of_look(graph, live_sets.content());
  std::int64_t effort = options.effort;
  for (std::size_t first = 0; first < nodes.size(); first += kNodesAtOnce) {
    // The tensors that must be live are live in every order, so no bound exceeds the peak of this order.
    if (bound.bytes >= highest) break;
    if (effort <= 0) {
      bound.is_complete = false;
      break;
    }
    const std::vector<NodeId> examined(
        nodes.begin() + static_cast<std::ptrdiff_t>(first),
        nodes.begin() + static_cast<std::ptrdiff_t>(std::min(first + kNodesAtOnce, nodes.size())));
    const auto each = live_sets.bounds(examined);
    for (std::size_t bit = 0; bit < examined.size(); ++bit) raise(Bytes(each[bit]), examined[bit]);
    effort -= cost;
  }
  return bound;
}

}  // namespace lowtide
