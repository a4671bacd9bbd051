// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "lowtide/schedule/orders/heuristics.h"

namespace lowtide::schedule_internal {
namespace {

constexpr std::int64_t kNotReady = std::numeric_limits<std::int64_t>::max();

// Finds the smallest key among the first n positions in O(log positions).
class LeastOfFirst {
 public:
  explicit LeastOfFirst(std::size_t places)
      : leaves_(std::bit_ceil(std::max<std::size_t>(places, 1))), least_(2 * leaves_, {kNotReady, 0}) {}

  void set(std::size_t place, std::int64_t key) {
    std::size_t at = leaves_ + place;
    least_[at] = {key, place};
    for (at /= 2; at > 0; at /= 2) least_[at] = std::min(least_[2 * at], least_[2 * at + 1]);
  }

  // Key and place.
  [[nodiscard]] std::pair<std::int64_t, std::size_t> least(std::size_t first) const {
    std::pair<std::int64_t, std::size_t> best{kNotReady, 0};
    for (std::size_t low = leaves_, high = leaves_ + first; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) best = std::min(best, least_[low++]);
      if (high % 2 == 1) best = std::min(best, least_[--high]);
    }
    return best;
  }

 private:
  std::size_t leaves_;
  std::vector<std::pair<std::int64_t, std::size_t>> least_;
};

class LeastPeak {
 public:
  explicit LeastPeak(const Graph& graph)
      : graph_(graph),
        made_(graph.nodes().size(), 0),
        waiting_(graph.nodes().size(), 0),
        after_(graph.nodes().size()),
        unread_(graph.tensors().size(), 0),
        place_(graph.nodes().size(), 0),
        ready_(graph.nodes().size()) {
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
      for (NodeId before : nodes_before(graph, id)) {
        ++waiting_[id];
        after_[before].push_back(id);
      }
      for (TensorId tensor : graph.reads(id)) ++unread_[tensor];
      for (const std::optional<TensorId>& output : graph.node(id).outputs) {
        if (output) made_[id] += graph.tensor(*output).size.count();
      }
      by_made_.push_back(id);
    }
    std::stable_sort(by_made_.begin(), by_made_.end(), [&](NodeId a, NodeId b) { return made_[a] < made_[b]; });
    for (std::size_t at = 0; at < by_made_.size(); ++at) place_[by_made_[at]] = at;
  }

  std::vector<NodeId> run() {
    for (NodeId id : by_made_) {
      if (waiting_[id] == 0) ready_.set(place_[id], change_of(id));
    }
    std::vector<NodeId> order;
    for (std::size_t step = 0; step < by_made_.size(); ++step) {
      const NodeId id = next();
      order.push_back(id);
      finish(id);
    }
    return order;
  }

 private:
  // The nodes that do not raise the peak come first in `by_made_`. If one of them is ready, takes the one that adds the
  // fewest bytes. Otherwise takes the ready node that makes the fewest bytes.
  NodeId next() {
    const auto end =
        std::partition_point(by_made_.begin(), by_made_.end(), [&](NodeId id) { return live_ + made_[id] <= peak_; });
    const auto [change, place] = ready_.least(static_cast<std::size_t>(end - by_made_.begin()));
    if (change != kNotReady) return by_made_[place];
    // Finds the lowest ready place by bisection.
    std::size_t low = 0;
    std::size_t high = by_made_.size();
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (ready_.least(middle).first != kNotReady ? high : low) = middle;
    }
    return by_made_[low];
  }

  [[nodiscard]] bool is_kept(TensorId id) const { return graph_.is_needed_at_end(id) || !graph_.tensor(id).producer; }

  [[nodiscard]] std::int64_t change_of(NodeId id) const {
    std::int64_t change = 0;
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (output && (unread_[*output] > 0 || is_kept(*output))) change += graph_.tensor(*output).size.count();
    }
    for (TensorId tensor : graph_.reads(id)) {
      if (!is_kept(tensor) && unread_[tensor] == 1) change -= graph_.tensor(tensor).size.count();
    }
    return change;
  }

  void finish(NodeId id) {
    peak_ = std::max(peak_, live_ + made_[id]);
    live_ += change_of(id);
    waiting_[id] = kHasRun;
    ready_.set(place_[id], kNotReady);
    for (TensorId tensor : graph_.reads(id)) {
      if (--unread_[tensor] != 1) continue;
      for (NodeId reader : graph_.readers(tensor)) {
        if (waiting_[reader] == 0) ready_.set(place_[reader], change_of(reader));
      }
    }
    for (NodeId after : after_[id]) {
      if (--waiting_[after] == 0) ready_.set(place_[after], change_of(after));
    }
  }

  static constexpr std::uint32_t kHasRun = ~std::uint32_t{0};

  const Graph& graph_;
  IdVector<NodeId, std::int64_t> made_;
  IdVector<NodeId, std::uint32_t> waiting_;
  IdVector<NodeId, std::vector<NodeId>> after_;
  IdVector<TensorId, std::uint32_t> unread_;
  std::vector<NodeId> by_made_;  // by bytes made, then id
  IdVector<NodeId, std::size_t> place_;
  LeastOfFirst ready_;  // by place: bytes added
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace

std::vector<NodeId> least_peak_first(const Graph& graph) { return LeastPeak(graph).run(); }

}  // namespace lowtide::schedule_internal
