// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "lowtide/earlier/baselines/assigned_slots.h"
#include "lowtide/earlier/baselines/net/blobs.h"
#include "lowtide/plan/packing.h"

// The slots of BaselineOptions::assigned, from which the interference rules begin.
namespace lowtide::baselines_internal {

// Sets net.given_slots, or returns a fault. Requires: the lifespans of the blobs are final.
[[nodiscard]] std::optional<AssignedFault> add_given_slots(const BaselineOptions& options, BlobNet& net);

// Buffers that already share a slot.
using GivenBuffers = std::vector<std::vector<PackingId>>;

// A problem in which each given slot is one buffer, as large as its largest, and live when one of its own is. No two
// of these buffers fit into one slot: before all other times, there is one at which only they are live.
//
//   given {a, c}, {d}     time   0  1  2  3  4  5
//   a = [1, 2)            a, c   |=|==|  |==|            one buffer [0, 4) with a gap
//   c = [3, 4)            d      |=|        |==|         one buffer [0, 5) with a gap
//   d = [4, 5)            b         |=====|
//
// Given slots of 0 bytes are left out, because they cost nothing and no other slot is saved by joining them.
struct JoinedProblem {
  PackingProblem problem;
  IdVector<PackingId, std::vector<PackingId>> members;  // of each buffer of `problem`
  GivenBuffers empty;                                   // given slots of 0 bytes
};
[[nodiscard]] JoinedProblem join_given(const PackingProblem& problem, const GivenBuffers& given);

}  // namespace lowtide::baselines_internal
