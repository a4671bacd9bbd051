// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/range_max.h"
#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::schedule_internal {

// What lives while nodes of a sequential order start and end out of turn, and what would live if, from now on, the rest
// ran in turn. Nodes are named by their position in the sequential order.
//
//   rest[p]   the load at p, if everything that runs has ended and the rest runs one by one: a piece that has begun
//             early counts from now on, one whose users have all started no more. Positions that have started count
//             nothing.
class StreamLoads {
 public:
  StreamLoads(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels, const AliasOptions& options,
              Bytes cap);

  // Starts the node if what lives with it, and the rest after it, stay within the cap. Never refuses the first that is
  // left while nothing runs.
  bool start_if_it_fits(std::uint32_t position);
  void end(std::uint32_t position);

  // The first position that has not started; the number of nodes, if none.
  [[nodiscard]] std::uint32_t first_left() const { return first_left_; }
  // Of the bytes that lived at once.
  [[nodiscard]] Bytes highest() const { return Bytes(highest_); }
  // Of each class, and of its parts if it has some. Require: all have ended.
  [[nodiscard]] IdVector<AliasClassId, std::vector<Lifespan>> lifespans() const;

 private:
  // What begins and ends as one: an alias class, or a part of it.
  struct Piece {
    std::int64_t size = 0;       // 0: takes no room
    std::uint32_t begin = 0;     // in the sequential order, or earlier since it has begun
    std::uint32_t end = 0;       // in the sequential order
    std::uint32_t to_start = 0;  // users that have not
    std::uint32_t to_end = 0;    // users that have not
    bool has_begun = false;
    bool is_kept = false;
    Lifespan lifespan;  // in the order of starts
  };
  using PieceIndex = std::uint32_t;

  void add_pieces(const AliasClass& alias, const AliasOptions& options, std::uint32_t steps);
  void touch(const AliasClasses& aliases, const Tensor& tensor, TensorId id, std::vector<PieceIndex>& touched) const;
  [[nodiscard]] bool may_start_early(std::uint32_t position);
  void mark_started(std::uint32_t position);

  std::vector<Piece> pieces_;                       // those of a class one behind the other
  std::vector<std::int64_t> ends_;                  // of each piece, in bytes of its class
  IdVector<AliasClassId, PieceIndex> first_piece_;  // and one entry more
  std::vector<std::vector<PieceIndex>> touched_;    // by position; each piece once
  std::vector<std::int64_t> scratch_;               // by position
  std::vector<char> has_started_;
  RangeMax rest_;
  std::int64_t cap_;
  std::int64_t live_ = 0;
  std::int64_t highest_ = 0;
  std::uint32_t first_left_ = 0;
  std::uint32_t started_ = 0;
};

}  // namespace lowtide::schedule_internal
