// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/pipeline/task/task.h"

namespace lowtide::pipeline_internal {

// Whether the items can be distributed over bins of these capacities. Exact by depth-first search, the largest item
// first (Martello and Toth 1990); nullopt if that takes more than kMostPackingStates states.
[[nodiscard]] std::optional<bool> can_distribute(std::vector<Bytes> items, const std::vector<Bytes>& capacities);

// Looks for tensors that no plan can distribute over the regions, because each lies in one region. They are in memory
// at the same time in every order, with any kernels. Examines the largest tensors alone, and the live sets
// (analysis/bounds.h) of the kProofNodes nodes with the highest load in the order of `sequence`. nullopt if a region
// has no limit, if there is only one region, or if nothing is found. A budget does not count.
[[nodiscard]] std::optional<RegionProof> region_proof(const Task& task, const Sequence& sequence);

inline constexpr std::size_t kProofNodes = 16;
inline constexpr std::size_t kMostPackingItems = 24;
inline constexpr int kMostPackingStates = 100'000;

}  // namespace lowtide::pipeline_internal
