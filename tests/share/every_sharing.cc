// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/share/every_sharing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "lowtide/analysis/views.h"

namespace lowtide::testing {

EverySharing::EverySharing(const Graph& graph, const ChosenKernels& kernels)
    : graph_(graph), content_(graph.tensors().size()) {
  std::int64_t next = 0;
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    for (std::int64_t row = 0; row < rows(id); ++row) content_[id].push_back(next++);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const bool is_concat = graph.op(id).traits.view == ViewKind::concat;
    std::uint32_t operand = 0;
    for (const View& view : views_of(graph, id)) {
      const std::int64_t offset = view.offset.count() / 16;
      pairs_.push_back({id, operand++, view.part, view.whole, offset, false, is_concat});
      for (std::int64_t row = 0; row < rows(view.part); ++row) {
        std::int64_t& part = content_[view.part][static_cast<std::size_t>(row)];
        std::int64_t& whole = content_[view.whole][static_cast<std::size_t>(row + offset)];
        (is_concat ? whole : part) = is_concat ? part : whole;
      }
    }
    for (const auto& [input, output] : kernels[id].in_place) {
      pairs_.push_back({.node = id,
                        .part = *graph.node(id).inputs[static_cast<std::size_t>(input)],
                        .whole = *graph.node(id).outputs[static_cast<std::size_t>(output)],
                        .is_in_place = true});
    }
  }
}

// Follows the chosen pairs from each tensor until all connected tensors have the same root. Returns nullopt if the
// pairs contradict each other.
std::optional<IdVector<TensorId, EverySharing::Place>> EverySharing::places(std::uint32_t mask) const {
  IdVector<TensorId, std::optional<Place>> found(graph_.tensors().size());
  for (TensorId root : all_ids<TensorId>(found.size())) {
    if (found[root]) continue;
    found[root] = Place{root, 0};
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (std::uint32_t at = 0; at < pairs_.size(); ++at) {
        if (((mask >> at) & 1U) == 0) continue;
        std::optional<Place>& part = found[pairs_[at].part];
        std::optional<Place>& whole = found[pairs_[at].whole];
        if (part && whole && (part->root != whole->root || part->row != whole->row + pairs_[at].offset)) return {};
        if (part.has_value() == whole.has_value()) continue;
        if (whole)
          part = Place{whole->root, whole->row + pairs_[at].offset};
        else
          whole = Place{part->root, part->row - pairs_[at].offset};
        has_changed = true;
      }
    }
  }
  IdVector<TensorId, Place> places;
  for (const std::optional<Place>& place : found) places.push_back(*place);
  return places;
}

class EverySharing::Run {
 public:
  Run(const EverySharing& all, const std::vector<NodeId>& order, std::uint32_t mask, IdVector<TensorId, Place> places)
      : all_(all), graph_(all.graph_), order_(order), mask_(mask), places_(std::move(places)) {}

  std::optional<std::int64_t> peak() {
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      if (!graph_.tensor(id).producer) give(id);
    }
    for (NodeId id : order_) run(id);
    for (TensorId id : graph_.outputs()) check(id);
    check_outputs_apart();
    return is_right_ ? std::optional(most_live()) : std::nullopt;
  }

 private:
  using Cell = std::pair<TensorId, std::int64_t>;  // root and row

  [[nodiscard]] Cell cell(TensorId id, std::int64_t row) const { return {places_[id].root, places_[id].row + row}; }
  [[nodiscard]] bool is_chosen(const Pair& pair) const {
    return ((mask_ >> static_cast<std::uint32_t>(&pair - all_.pairs_.data())) & 1U) != 0;
  }

  void give(TensorId id) {
    for (std::int64_t row = 0; row < all_.rows(id); ++row) {
      is_right_ = is_right_ && given_.emplace(cell(id, row), all_.content_[id][static_cast<std::size_t>(row)]).second;
    }
    if (!givers_.insert({places_[id].root, id}).second) is_right_ = false;
    held_.insert(given_.begin(), given_.end());
  }

  void check(TensorId id) {
    for (std::int64_t row = 0; row < all_.rows(id); ++row) {
      const auto at = held_.find(cell(id, row));
      if (at == held_.end() || at->second != all_.content_[id][static_cast<std::size_t>(row)]) is_right_ = false;
    }
  }

  // Inputs and constants are never written.
  void write(const Cell& cell, std::int64_t content) {
    if (givers_.contains(cell.first)) is_right_ = false;
    held_[cell] = content;
  }

  void run(NodeId id) {
    for (TensorId read : graph_.reads(id)) check(read);
    std::vector<const Pair*> views;
    bool has_chosen = false;
    bool has_all = true;
    for (const Pair& pair : all_.pairs_) {
      if (pair.node != id || pair.is_in_place) continue;
      views.push_back(&pair);
      has_chosen = has_chosen || is_chosen(pair);
      has_all = has_all && is_chosen(pair);
    }
    if (has_chosen && !has_all && !views[0]->is_concat) is_right_ = false;  // the kernel writes all outputs or none
    if (!has_chosen) compute(id);
    for (const Pair* pair : views) {
      if (has_chosen && !is_chosen(*pair)) copy(*pair);
    }
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) check(*output);
  }

  void copy(const Pair& pair) {
    check(pair.part);
    for (std::int64_t row = 0; row < all_.rows(pair.part); ++row) {
      write(cell(pair.whole, row + pair.offset), all_.content_[pair.part][static_cast<std::size_t>(row)]);
    }
  }

  // A kernel may write over an operand only in a pair that it permits, and only if both tensors start at the same row.
  void compute(NodeId id) {
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      for (TensorId read : graph_.reads(id)) {
        const bool is_permitted = std::any_of(all_.pairs_.begin(), all_.pairs_.end(), [&](const Pair& pair) {
          return pair.node == id && pair.is_in_place && pair.part == read && pair.whole == *output;
        });
        if (overlap(read, *output) && (!is_permitted || cell(read, 0) != cell(*output, 0))) is_right_ = false;
      }
      for (std::int64_t row = 0; row < all_.rows(*output); ++row) {
        write(cell(*output, row), all_.content_[*output][static_cast<std::size_t>(row)]);
      }
    }
  }

  [[nodiscard]] bool overlap(TensorId a, TensorId b) const {
    return places_[a].root == places_[b].root && places_[a].row < places_[b].row + all_.rows(b) &&
           places_[b].row < places_[a].row + all_.rows(a);
  }

  void check_outputs_apart() {
    for (TensorId a : all_ids<TensorId>(graph_.tensors().size())) {
      for (TensorId b : all_ids<TensorId>(graph_.tensors().size())) {
        const bool are_outputs = graph_.tensor(a).role == Role::output && graph_.tensor(b).role == Role::output;
        if (a < b && are_outputs && overlap(a, b)) is_right_ = false;
      }
      if (graph_.tensor(a).role == Role::output && givers_.contains(places_[a].root)) is_right_ = false;
    }
  }

  // A row is live while some tensor in it has been written and is still needed.
  [[nodiscard]] std::int64_t most_live() const {
    IdVector<NodeId, std::size_t> position(order_.size());
    for (std::size_t at = 0; at < order_.size(); ++at) position[order_[at]] = at;
    std::map<Cell, std::vector<char>> lives;
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      if (givers_.contains(places_[id].root)) continue;
      const std::size_t begin = position[*graph_.tensor(id).producer];
      std::size_t end = begin;
      for (NodeId reader : graph_.readers(id)) end = std::max(end, position[reader]);
      if (graph_.tensor(id).role == Role::output) end = order_.size() - 1;
      for (std::int64_t row = 0; row < all_.rows(id); ++row) {
        std::vector<char>& steps = lives[cell(id, row)];
        steps.resize(order_.size(), 0);
        std::fill(steps.begin() + static_cast<std::ptrdiff_t>(begin),
                  steps.begin() + static_cast<std::ptrdiff_t>(end) + 1, 1);
      }
    }
    std::int64_t most = 0;
    for (std::size_t at = 0; at < order_.size(); ++at) {
      std::int64_t live = 0;
      for (const auto& [cell, steps] : lives) live += steps[at] * 16;
      most = std::max(most, live);
    }
    return most;
  }

  const EverySharing& all_;
  const Graph& graph_;
  const std::vector<NodeId>& order_;
  std::uint32_t mask_;
  IdVector<TensorId, Place> places_;
  std::map<Cell, std::int64_t> held_;
  std::map<Cell, std::int64_t> given_;
  std::map<TensorId, TensorId> givers_;  // by root, the input or constant there
  bool is_right_ = true;
};

std::optional<std::int64_t> EverySharing::peak(const std::vector<NodeId>& order, std::uint32_t mask) const {
  std::optional<IdVector<TensorId, Place>> places = this->places(mask);
  return places ? Run(*this, order, mask, *std::move(places)).peak() : std::nullopt;
}

std::int64_t EverySharing::least_peak(const std::vector<NodeId>& order) const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t mask = 0; mask < (1U << choices()); ++mask) {
    least = std::min(least, peak(order, mask).value_or(least));
  }
  return least;
}

}  // namespace lowtide::testing
