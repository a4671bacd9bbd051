// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// Live bytes of the placed buffers in each step, including scratch. A program without steps has one moment. With
// `region`, only the buffers in that region count. O(steps + buffers + parts).
[[nodiscard]] std::vector<Bytes> load_by_step(const Layout& layout, std::optional<RegionId> region = std::nullopt);
// Only those in the arena, without regions that only links reach (is_outside).
[[nodiscard]] std::vector<Bytes> load_by_step(const Plan& plan);

// Live bytes of the placed buffers that a step reads or writes, or has as scratch. An alias touches nothing.
[[nodiscard]] Bytes touched_bytes(const Plan& plan, StepId step);

// The step that reports show as the peak, given the load of each step. Of the steps with the largest load, it is the
// kernel that touches the most bytes, the first of equals. If no kernel has that load, it is the first alias, otherwise
// the first copy. nullopt for a program without steps. O(steps + reads and writes of the steps with the largest load).
[[nodiscard]] std::optional<StepId> peak_step(const Plan& plan, const std::vector<Bytes>& loads);

// What reports say about a buffer, independent of the step that they show.
struct BufferUse {
  // The value that gives the buffer its name. Of all values that the buffer ever holds, this is an output of the
  // program if there is one, otherwise the largest. Of equals it is the one that is read last, then the first by id.
  // nullopt for a buffer that holds no value (scratch).
  std::optional<ValueId> name;
  std::optional<StepId> first_write;  // nullopt: it has content before the run. For scratch, the step that uses it
  std::optional<StepId> last_read;    // nullopt: no step reads it
};

// O(values + reads).
[[nodiscard]] IdVector<BufferId, BufferUse> buffer_uses(const Plan& plan, const Labels& labels);

// A buffer in the arena at one step.
struct LiveBuffer {
  BufferId buffer;
  Bytes bytes;                  // that are live
  std::vector<ValueId> values;  // live in it, the largest first
};

// The largest load of one plan and the buffers that are live there.
struct Peak {
  const Plan* plan = nullptr;  // the ids below refer to it; plan and labels must outlive the peak
  const Labels* labels = nullptr;
  std::size_t body_position = 0;  // for a body: its position among those of the node
  std::string body;               // its name, such as "then_branch"; empty for the graph itself
  Bytes bytes;
  std::vector<Bytes> loads;         // of each step
  std::optional<StepId> step;       // peak_step(); nullopt: the program has no steps and one moment
  std::vector<LiveBuffer> buffers;  // those with live bytes, the largest first, equals by id; the sum is `bytes`
  IdVector<BufferId, BufferUse> uses;
  IdVector<ValueId, std::uint32_t> ordinals;  // ordinals_of(plan->program)

  // Live values of a buffer other than the one that gives it its name.
  [[nodiscard]] std::size_t other_values(const LiveBuffer& live) const;
};

// The peak of a plan. If the step at the peak runs bodies that need an arena, the peak of the body with the largest
// arena follows, and so on inwards. Requires: the plan is well-formed, and the labels are of its graph.
// O(values + reads + parts) per level, and O(n log n) in the values that are live at the peak.
[[nodiscard]] std::vector<Peak> peaks_of(const Plan& plan, const Labels& labels);

}  // namespace lowtide
