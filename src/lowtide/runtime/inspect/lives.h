// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/runtime/prepare/prepared.h"

namespace lowtide::runtime_internal {

// Bytes of the arena that are live for some steps of a graph: a buffer, or a part of it.
struct LivePart {
  PreparedGraphId graph;
  BufferId buffer;
  Interval<std::int64_t> bytes;  // in Probe::arena()
  std::int64_t used_end = 0;     // no tensor has the bytes of the part from here on, only padding; <= bytes.end
  Lifespan lifespan;
  bool is_outside = false;  // of the arena
};

// The end of the bytes of each buffer that values have. The rest is padding. Scratch counts whole.
[[nodiscard]] IdVector<BufferId, std::int64_t> used_bytes(const PreparedGraph& in);

// When the bytes of the arena are live, by the plans of an executable.
class Lives {
 public:
  explicit Lives(const Prepared& prepared);

  [[nodiscard]] const std::vector<LivePart>& parts() const { return parts_; }
  // Indices into parts() of one graph, by the first step and by the end of the lifespan.
  [[nodiscard]] const std::vector<std::size_t>& by_begin(PreparedGraphId graph) const { return by_begin_[graph]; }
  [[nodiscard]] const std::vector<std::size_t>& by_end(PreparedGraphId graph) const { return by_end_[graph]; }
  // The first step with an action; nullopt: there is none.
  [[nodiscard]] std::optional<StepId> first_action(PreparedGraphId graph) const;
  // The next step with an action; nullopt: none follows.
  [[nodiscard]] std::optional<StepId> next_action(const RunPlace& place) const;
  // The bytes of the arena that the plan of a graph has.
  [[nodiscard]] Interval<std::int64_t> arena(PreparedGraphId graph) const { return arenas_[graph]; }

 private:
  void add_parts(const Prepared& prepared, PreparedGraphId id);

  std::vector<LivePart> parts_;
  IdVector<PreparedGraphId, std::vector<std::size_t>> by_begin_;
  IdVector<PreparedGraphId, std::vector<std::size_t>> by_end_;
  IdVector<PreparedGraphId, std::vector<StepId>> actions_;
  IdVector<PreparedGraphId, Interval<std::int64_t>> arenas_;
};

// The largest sum of bytes that were written and live at once, and the end of the highest byte that was written.
struct SeenMemory {
  Bytes peak;
  Bytes arena;
  IdVector<BufferId, std::optional<Bytes>> buffers;  // of the main graph: the sum over parts; nullopt: not in the arena
};

// `written` has the bytes that were written, by Lives::parts().
[[nodiscard]] SeenMemory seen_memory(const Prepared& prepared, const Lives& lives,
                                     const std::vector<std::int64_t>& written);

}  // namespace lowtide::runtime_internal
