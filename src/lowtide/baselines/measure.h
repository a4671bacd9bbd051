// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/baselines/baselines.h"
#include "lowtide/baselines/blobs.h"
#include "lowtide/baselines/least_slots.h"
#include "lowtide/baselines/sharing_rules.h"
#include "lowtide/plan/packing.h"

namespace lowtide::baselines_internal {

// What a baseline decided: blocks that are shared whole, or one arena with offsets.
struct Decision {
  RunOrder run_order = RunOrder::sequence;
  IdVector<NodeId, std::uint32_t> wave;                  // of waves only
  IdVector<BlobId, std::optional<std::uint32_t>> block;  // nothing: memory of its own
  IdVector<BlobId, Offset> offset;                       // in the block; empty: all at 0
  std::vector<std::string> names;                        // of blocks
  std::uint32_t streams = 1;
  bool all_may_share = true;  // all blobs that are not kept
  [[nodiscard]] bool has_offsets() const { return !offset.empty(); }
};

[[nodiscard]] Decision decision_of(BlockChoice choice, RunOrder run_order);

// One arena for everything that takes memory during the run: inputs and outputs too.
[[nodiscard]] Decision arena_of(const BlobNet& net);

// Those in the arena, in steps or waves, by their begin. Inputs live from the start, outputs to the end.
[[nodiscard]] Movable arena_problem(const BlobNet& net, const Decision& decision);

// Blocks, places and counts.
void claim(const BlobNet& net, const std::vector<NodeId>& order, const BaselineOptions& options,
           const Decision& decision, BaselineOutcome& outcome);

// Bytes, naive, best and bound. Require: claim.
[[nodiscard]] Result<void> measure(const BlobNet& net, const BaselineOptions& options, const Decision& decision,
                                   BaselineOutcome& outcome);

}  // namespace lowtide::baselines_internal
