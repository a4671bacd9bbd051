// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

// The rules of the planners of TFLite Micro and ExecuTorch. Both place buffers one after another, in an order that the
// caller gives: from large to small. The originals scan all buffers placed before. Here a tree lists only those that
// are live at the same time, and tests/earlier/baselines/plain_rules.h has the scans for comparison. Both take
// O((buffers + pairs) log buffers), where `pairs` are the pairs of buffers that are live at the same time. If `work` is
// not nullptr, it is set to the number of pairs. Errors: over_limit for more than kMostPairs pairs.
namespace lowtide::baselines_internal {

// The largest number of pairs that a rule examines, which takes a few seconds. 10,000 tensors that are all live at the
// same time have 50 million pairs.
inline constexpr std::int64_t kMostPairs = 100'000'000;

// Returns the number of pairs of buffers that are live at the same time. O(buffers log buffers).
[[nodiscard]] std::int64_t count_pairs(const PackingProblem& problem);

// The error of a rule that would examine more than kMostPairs pairs.
[[nodiscard]] Error too_many_pairs();

// TFLite Micro, GreedyMemoryPlanner. A buffer goes into the lowest free range between the buffers that are live at the
// same time, or above the last of these. Requires: `order` lists each buffer once.
[[nodiscard]] Result<IdVector<PackingId, Offset>> lowest_free_offsets(const PackingProblem& problem,
                                                                      const std::vector<PackingId>& order,
                                                                      std::int64_t* work = nullptr);

// Buckets of a fixed size with offsets in them.
struct BucketChoice {
  IdVector<PackingId, std::uint32_t> bucket;  // numbered in the order of opening
  IdVector<PackingId, Offset> offset;         // in the bucket
  std::vector<Bytes> sizes;                   // of the buckets: each is as large as its first buffer
};

// ExecuTorch, greedy. A buffer goes to the bottom of the first bucket without a buffer that is live at the same time.
// If there is none, it goes into the first bucket with space above all buffers that are live at the same time. If there
// is none either, it opens a bucket. Requires: `order` lists each buffer once, none before a larger one.
[[nodiscard]] Result<BucketChoice> bucket_offsets(const PackingProblem& problem, const std::vector<PackingId>& order,
                                                  std::int64_t* work = nullptr);

}  // namespace lowtide::baselines_internal
