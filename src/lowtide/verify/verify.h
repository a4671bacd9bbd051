// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// What is wrong with a plan. The names are stable: they stand in --json output.
enum class ViolationKind : std::uint8_t {
  malformed,        // an id out of range, a missing or repeated entry: nothing can be replayed
  wrong_model,      // the plan was made for another graph
  missing_step,     // a node never runs
  repeated_step,    // a node runs more often than it may
  data_flow,        // a step reads or writes another tensor than its node does, or reads before the value is written
  clobbered,        // bytes read are no longer (or not yet) those of the value
  output_lost,      // an output's bytes do not hold it at the end
  out_of_buffer,    // a value does not fit its buffer
  out_of_region,    // a buffer reaches below 0 or above the arena or capacity
  misaligned,
  dead_access,      // a buffer is used outside its lifespan
  overlap,          // two buffers that live together share bytes
  bad_alias,        // an alias step whose output is not its input's bytes
  bad_in_place,     // a kernel's output shares bytes with its inputs although the operator does not allow it
  role,             // an input, constant or state would be written, or a role and a buffer kind disagree
  wrong_claim,      // a number the plan states about itself is not so
};

[[nodiscard]] const char* to_string(ViolationKind kind);

struct Violation {
  ViolationKind kind = ViolationKind::malformed;
  std::optional<StepId> step;
  std::vector<TensorId> tensors;
  std::optional<RegionId> region;
  std::optional<Interval<std::int64_t>> bytes;  // in the region, or in the buffer where that is not placed
  std::string message;  // one terminal-safe line naming step, node, tensors, bytes
  std::string body;     // "node 3 'if': then_branch" for a violation inside a body; else empty
};

struct VerifyOptions {
  std::size_t most_violations = 100;  // stop after as many
};

// Replays a finished plan against the graph it is for, from first principles: a map of who owns which bytes, written
// and read step by step. Uses nothing that a planner computes: no lifetimes, no alias classes, no orders. Plans may
// come from anywhere: every id is checked before it is used.
// Returns every violation in the order of the replay; empty: the plan is right. O((steps + values + segments) log n),
// where segments is the number of contiguous owned pieces touched; no recursion but over bodies (<= kMaxBodyNesting).
[[nodiscard]] std::vector<Violation> verify(const Graph& graph, const Plan& plan, const VerifyOptions& options = {});

}  // namespace lowtide
