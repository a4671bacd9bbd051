// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/earlier/baselines/measure/least_slots.h"
#include "lowtide/earlier/baselines/net/blobs.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"
#include "lowtide/plan/packing.h"

namespace lowtide::baselines_internal {

// The decision of a baseline: blocks that are shared as a whole, or one arena with offsets.
struct Decision {
  ExecutionModel execution = ExecutionModel::sequence;
  IdVector<NodeId, std::uint32_t> wave;                  // only with waves
  IdVector<BlobId, std::optional<std::uint32_t>> block;  // nullopt if the blob has its own memory
  IdVector<BlobId, Offset> offset;                       // in the block; empty if all are 0
  std::vector<std::string> names;                        // of blocks
  std::uint32_t streams = 1;
  std::int64_t first_step = 0;                  // the time of the first node; 1 if inputs are live before it
  bool inputs_at_first_use = false;             // whether inputs are live from their first use on, not from the start
  IdVector<NodeId, Bytes> scratch;              // in the arena, live while the node runs; empty if there is none
  IdVector<NodeId, Offset> scratch_at;          // as long as `scratch`
  std::optional<std::string> original_failure;  // why the original has no valid result, so that another rule decided
  bool all_may_share = true;                    // whether all blobs that are not kept may share
  [[nodiscard]] bool has_offsets() const { return !offset.empty(); }
};

[[nodiscard]] Decision decision_of(BlockChoice choice, ExecutionModel execution);

// Puts everything that needs memory during the run into one arena, including inputs and outputs.
[[nodiscard]] Decision arena_of(const BlobNet& net);

// Returns the blobs of the arena, with lifespans in steps or waves, and the scratch in it. Inputs are live from the
// start unless decision.inputs_at_first_use, outputs and the next content of states until the end. Blobs are sorted by
// the begin of their lifespans, then in the order in which the nodes use them, wave by wave.
[[nodiscard]] Movable arena_problem(const BlobNet& net, const Decision& decision);

// Sets the blocks, places and counts of the outcome.
void claim(const BlobNet& net, const std::vector<NodeId>& order, const BaselineOptions& options,
           const Decision& decision, BaselineOutcome& outcome);

// Sets the bytes, naive bytes, best and bound of the outcome. Requires: claim() was called.
[[nodiscard]] Result<void> measure(const BlobNet& net, const BaselineOptions& options, const Decision& decision,
                                   BaselineOutcome& outcome);

}  // namespace lowtide::baselines_internal
