// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/baselines/blobs.h"
#include "lowtide/plan/packing.h"

// One function per rule of an earlier planner; baselines.cc measures and checks what they decide. The originals scan lists
// of buffers. Here trees answer the same questions with the same answers; tests/baselines/plain_rules.h keeps the scans.
// Where a function takes `work`, it is set to what was looked at, as a count. nullptr: not wanted.
namespace lowtide::baselines_internal {

// The answer of a rule whose own work would be too much (over_limit).
[[nodiscard]] Error too_large(const std::string& what, std::int64_t most, const std::string& name);

// Blobs that share whole blocks.
struct BlockChoice {
  IdVector<BlobId, std::optional<std::uint32_t>> block;  // nothing: memory of its own
  std::vector<std::string> names;                        // of blocks
};

// In the order of the nodes, a stack of free blocks, sizes play no part (Caffe2, optimize_inference_net): what a node
// reads for the last time is released; what it writes for the first time takes the block released last, if there is
// one; only then what was released comes on the stack. A stack for each device. O(uses of blobs).
[[nodiscard]] BlockChoice recycle_in_sequence(const BlobNet& net);

struct DagRule {
  bool by_size = false;
  IdVector<BlobId, char> may_move;  // into a block
  IdVector<BlobId, char> may_host;  // not written by those who take part; released after their last use
  std::vector<char> takes_part;     // of each op
};

// For every run that the dependencies allow (Caffe2, compute_blob_recycling_for_dag): walks depth-first from the inputs,
// to a node when all that it depends on has been visited; a free block goes to a node that comes after all uses of it in
// every run. Among those: the one that most blobs share, then the one opened first; by size the largest that is not
// above what is needed, else the smallest above. Free blocks are tried in this order of preference until one may be
// taken. Near linear where the first ones may; else up to O(uses of free blocks) for each node.
// Errors: over_limit (HappensBefore; and above 400 million uses of free blocks looked at).
[[nodiscard]] Result<BlockChoice> recycle_in_dag(const BlobNet& net, const DagRule& rule, std::int64_t* work = nullptr);

// Along the nodes, with a stack of free groups (Static Runtime, storage groups): outputs first take the group that was
// freed last, or open one; then those whose life ends here free theirs. O(uses of blobs).
[[nodiscard]] BlockChoice storage_groups(const BlobNet& net);

// Greedy over ranges in the order of their ends (Caffe2, optimize_interference): of the slots that are free when it
// begins, the one whose size is nearest to its own; the first among equals; else a new one. Answer: a slot each,
// numbered as opened. O(n log n), expected.
[[nodiscard]] IdVector<PackingId, std::uint32_t> nearest_size_slots(const PackingProblem& problem,
                                                                    std::int64_t* work = nullptr);

// The largest first, in the order given among equals, into the smallest gap that fits between those that live at one
// time with it, the lowest among equals; else behind the last of these (AITemplate, greedy by size).
// O(n log n + least of pairs that live at one time and n x different lifespans, log n each): there are few lifespans
// where many nodes run in one wave. Errors: over_limit, where that would look at more than 100 million pairs.
[[nodiscard]] Result<IdVector<PackingId, Offset>> largest_first_offsets(const PackingProblem& problem,
                                                                        std::int64_t* work = nullptr);

}  // namespace lowtide::baselines_internal
