// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/verify/bounds/order_count.h"

namespace lowtide::verify_internal {

// Sorts, and leaves each number once.
void sort_once(std::vector<OrderCount::Index>& all);

// Cuts atoms into the pieces of an OrderCount. An atom is what one node computed, or one constant.
class Pieces {
 public:
  using Index = OrderCount::Index;

  // Bytes [begin, end) of an atom that a tensor holds.
  struct Held {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    TensorId tensor;
  };

  // The arguments must outlive this object. Requires: `count` has the edges of its nodes.
  Pieces(const Graph& graph, Bytes alignment, OrderCount& count)
      : graph_(graph),
        alignment_(alignment),
        count_(count),
        of_(graph.tensors().size()),
        is_between_(graph.nodes().size()) {}

  // Cuts an atom where a holder begins or ends. Runs with the same holders are one piece. If `is_alone`, a piece that
  // is the whole atom occupies whole units of the alignment.
  //
  // An atom whose pieces would have too many holders or users is not cut. It is one piece, held by the tensors that
  // hold all of it. A node that overwrites another holder counts as overwriting this piece. Both can only lower a
  // count.
  void cut(std::int64_t size, bool is_alone, const std::vector<Held>& holders);

  // The pieces that a tensor holds.
  [[nodiscard]] const std::vector<Index>& of(TensorId id) const { return of_[id]; }

 private:
  static constexpr std::int64_t kMostHeldRuns = 16'000'000;  // in all atoms together; about 10 bytes each
  static constexpr std::int64_t kMostUses = 500'000'000;     // likewise; about 1 ns each
  static constexpr std::int64_t kMostListed = 16'000'000;    // users that are listed, 4 bytes each
  static constexpr std::size_t kFewUsers = 4;

  void keep_whole(std::int64_t size, const std::vector<Held>& holders);
  Index add_piece(const std::vector<TensorId>& holders, std::int64_t size);
  // The nodes that make or read one of the holders. If there are many, nodes between the first and the last are
  // omitted, because the piece lives while they run anyway. For example, each of 10,000 slices of a tensor is a user of
  // all pieces of that tensor. Beyond kMostListed, only the first and the last are listed, which counts less, never
  // more.
  [[nodiscard]] std::vector<Index> users_of(const std::vector<TensorId>& holders);
  // Marks the nodes that have an edge from `first` and an edge to `last`.
  void mark_between(Index first, Index last);

  const Graph& graph_;
  Bytes alignment_;
  OrderCount& count_;
  IdVector<TensorId, std::vector<Index>> of_;
  std::int64_t held_runs_left_ = kMostHeldRuns;
  std::int64_t uses_left_ = kMostUses;
  std::int64_t listed_left_ = kMostListed;
  Flags<Index> is_between_;  // by node: whether it is marked
  std::vector<Index> between_;
  std::pair<Index, Index> marked_ = {0, 0};  // between which two nodes
};

}  // namespace lowtide::verify_internal
