// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/net/blobs.h"
#include "lowtide/plan/packing.h"

// One function per rule of an earlier planner; baselines.cc measures and checks what they decide. The originals scan
// lists of buffers. Here trees give the same answers, and tests/earlier/baselines/plain_rules.h has the scans for
// comparison. If `work` is not nullptr, it is set to the number of items that were examined.
namespace lowtide::baselines_internal {

// The error of a rule that would examine too much (over_limit).
[[nodiscard]] Error too_large(const std::string& what, std::int64_t most, const std::string& name);

// Blobs that share whole blocks.
struct BlockChoice {
  IdVector<BlobId, std::optional<std::uint32_t>> block;  // nullopt if the blob has its own memory
  std::vector<std::string> names;                        // of blocks
};

// Caffe2, optimize_inference_net. Visits the nodes in order, with a stack of free blocks for each device, and
// ignores sizes. A node releases what it reads for the last time. What it writes for the first time takes the block
// that was released last, if there is one. Only then are the released blocks put on the stack. O(uses of blobs).
[[nodiscard]] BlockChoice recycle_in_sequence(const BlobNet& net);

struct DagRule {
  bool by_size = false;
  Flags<BlobId> may_move;           // may move into a block
  Flags<BlobId> may_host;           // not written by ops that take part; released after their last use
  Flags<std::uint32_t> takes_part;  // by op

  // Only for recycle_by_tokens.
  std::vector<BlobId> heads;      // where the walk starts, in this order
  Flags<BlobId> is_not_released;  // may move into a block, but its own block is not given away
  std::string namescope;          // in front of the names of blocks
};

// What the original does with a net: a choice, or the reason why it stops.
struct TokenChoice {
  BlockChoice choice;
  std::optional<std::string> failure;
};

// Caffe2, compute_blob_recycling_for_dag, step by step as the original. Blobs that may move or host are its
// shareable names; a head need not be one.
//
// The walk starts again, with an empty pool of free blocks and a new token, at each node that a head feeds. It goes on
// by result, then by reader, to each node that has been reached by all its edges. If the results of a node have
// several readers, each of them gets a further token. A node also has the tokens of all edges that reached it. A free
// block may be taken by a node that has the tokens of all nodes that used the block. Among those, the one that most
// blobs share comes first, then the one whose name comes first. Only blocks of blobs that no node of the rule writes
// count their own blob. With sizes, the original scans its heap of free blocks, so the choice depends on the layout of
// that heap, and a block keeps the size of its own blob when a larger one moves in.
// Errors: over_limit, for more than kMostTokenWords words of token sets, or more than kMostExaminedBlocks free blocks.
[[nodiscard]] Result<TokenChoice> recycle_by_tokens(const BlobNet& net, const DagRule& rule);

// Replaces recycle_by_tokens for nets where the original stops, or is wrong. Walks depth-first from the
// inputs, and visits a node when everything that it depends on has been visited. A free block may go to a node that
// comes after all uses of the block in every run. Free blocks are tried in this order: the block that most blobs
// share, then the block opened first. With sizes: the largest that is at most the needed size, otherwise the
// smallest above it. Near linear if the first block may be taken; at worst O(uses of free blocks) per node.
// Errors: over_limit (HappensBefore, or more than 400 million uses of free blocks examined).
[[nodiscard]] Result<BlockChoice> recycle_in_dag(const BlobNet& net, const DagRule& rule, std::int64_t* work = nullptr);

// Static Runtime, storage groups. Visits the nodes in order, with a stack of free groups. The outputs of a node
// first take the group that was freed last, or open one. Then the tensors whose life ends at the node free their
// groups. O(uses of blobs).
[[nodiscard]] BlockChoice storage_groups(const BlobNet& net);

// Caffe2, optimize_interference. Visits buffers in the order of their ends. Each takes the slot with the nearest
// size among those that are free at its start, the first among equals, or a new slot. Returns one slot per buffer,
// numbered in the order of opening. O(n log n), expected. Given slots come first. Each lists its buffers in the order
// of time, and is free from the end of the last one on.
[[nodiscard]] IdVector<PackingId, std::uint32_t> nearest_size_slots(
    const PackingProblem& problem, const std::vector<std::vector<PackingId>>& given = {}, std::int64_t* work = nullptr);

// AITemplate, greedy by size. Visits buffers from large to small, in the given order among equals. Each goes into
// the smallest free range between the buffers that are live at the same time, the lowest among equals, or after the
// last of these. O((n + m) log n), where m is the number of pairs that are live at the same time, or n x different
// lifespans if that is less. There are few different lifespans if many nodes run in one wave. Errors: over_limit, if it
// would examine more than 100 million pairs.
[[nodiscard]] Result<IdVector<PackingId, Offset>> largest_first_offsets(const PackingProblem& problem,
                                                                        std::int64_t* work = nullptr);

}  // namespace lowtide::baselines_internal
