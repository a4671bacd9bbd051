// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/analysis/alias_classes.h"
#include "lowtide/analysis/range_max.h"
#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"

namespace lowtide::detail {

// What lives while nodes of a sequential order start and end out of turn, and what would live if, from now on, the rest
// ran in turn. Nodes are named by their position in the sequential order.
//
//   rest[p]   the load at p, if everything that runs has ended and the rest runs one by one: a class that has begun
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
  // Require: all have ended.
  [[nodiscard]] IdVector<AliasClassId, Lifespan> take_lifespans();

 private:
  struct Class {
    std::int64_t size = 0;       // 0: takes no room
    std::uint32_t begin = 0;     // in the sequential order, or earlier since it has begun
    std::uint32_t end = 0;       // in the sequential order
    std::uint32_t to_start = 0;  // users that have not
    std::uint32_t to_end = 0;    // users that have not
    bool has_begun = false;
    bool is_kept = false;
  };

  [[nodiscard]] bool may_start_early(std::uint32_t position);
  void mark_started(std::uint32_t position);

  IdVector<AliasClassId, Class> classes_;
  IdVector<AliasClassId, Lifespan> lifespans_;
  std::vector<std::vector<AliasClassId>> touched_;  // by position; each class once
  std::vector<std::int64_t> scratch_;               // by position
  std::vector<char> has_started_;
  RangeMax rest_;
  std::int64_t cap_;
  std::int64_t live_ = 0;
  std::int64_t highest_ = 0;
  std::uint32_t first_left_ = 0;
  std::uint32_t started_ = 0;
};

}  // namespace lowtide::detail
