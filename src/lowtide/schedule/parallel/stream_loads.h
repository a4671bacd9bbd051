// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/range_max.h"
#include "lowtide/graph/graph.h"
#include "lowtide/schedule/schedule.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide::schedule_internal {

// The live bytes while nodes of a sequential order start and end out of order. Also what would be live if the rest ran
// in order from now on. Nodes are identified by their position in the sequential order.
//
//   rest[p]   the load at position p if all running nodes have ended and the rest runs one by one. A part that began
//             early counts from now on; a part whose users have all started does not count. Positions that have started
//             have no load.
class StreamLoads {
 public:
  StreamLoads(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels, const AliasOptions& options,
              Bytes cap);

  // Starts the node if the live bytes with it, and the rest after it, stay within the cap. Never refuses the first
  // position that is left while nothing runs.
  bool start_if_it_fits(std::uint32_t position);
  void end(std::uint32_t position);

  // The first position that has not started; the number of nodes if all have.
  [[nodiscard]] std::uint32_t first_left() const { return first_left_; }
  // The largest number of bytes that were live at the same time.
  [[nodiscard]] Bytes highest() const { return Bytes(highest_); }
  // By class: its lifespan, or one for each of its parts. Requires: all nodes have ended.
  [[nodiscard]] IdVector<AliasClassId, std::vector<Lifespan>> lifespans() const;

 private:
  // An alias class without parts, or a part of one.
  struct Part {
    std::int64_t size = 0;       // 0: needs no bytes of the arena
    std::uint32_t begin = 0;     // in the sequential order, or earlier since it has begun
    std::uint32_t end = 0;       // in the sequential order
    std::uint32_t to_start = 0;  // users that have not started
    std::uint32_t to_end = 0;    // users that have not ended
    bool has_begun = false;
    bool is_kept = false;
    Lifespan lifespan;  // in the order of starts
  };
  using PartIndex = std::uint32_t;

  void add_parts(const AliasClass& alias, const AliasOptions& options, std::uint32_t steps);
  void touch(const AliasClasses& aliases, const Tensor& tensor, TensorId id, std::vector<PartIndex>& touched) const;
  [[nodiscard]] bool may_start_early(std::uint32_t position);
  void mark_started(std::uint32_t position);

  std::vector<Part> parts_;                       // those of a class one after another
  std::vector<std::int64_t> ends_;                // of each part, in bytes of its class
  IdVector<AliasClassId, PartIndex> first_part_;  // and one more entry
  std::vector<std::vector<PartIndex>> touched_;   // by position; each part once
  std::vector<std::int64_t> scratch_;             // by position
  Flags<std::uint32_t> has_started_;
  RangeMax rest_;
  std::int64_t cap_;
  std::int64_t live_ = 0;
  std::int64_t highest_ = 0;
  std::uint32_t first_left_ = 0;
  std::uint32_t started_ = 0;
};

}  // namespace lowtide::schedule_internal
