// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "lowtide/plan/region_packing.h"
#include "tests/allocate/problems.h"

namespace lowtide::testing {

struct RegionFeatures {
  Features packing;
  std::int64_t most_regions = 3;
  bool weights = false;
  bool forbidden = false;
  bool alignments = false;   // of regions
  bool all_bounded = false;  // otherwise the last region has no capacity in half of the problems
};

// A random valid problem. Its capacities are about as large as needed.
[[nodiscard]] RegionProblem random_region_problem(Random& random, const RegionFeatures& features);

// A problem with these buffers. Weights are optional.
[[nodiscard]] RegionProblem region_problem_of(std::initializer_list<Box> boxes,
                                              std::initializer_list<PackingRegion> regions,
                                              std::initializer_list<std::int64_t> weights = {});

// The least cost, by trying every region for every buffer, and in each region every order of assignment (with
// colocations, every offset). Returns nullopt if nothing fits. For at most 6 buffers.
[[nodiscard]] std::optional<RegionCost> least_cost(const RegionProblem& problem);

}  // namespace lowtide::testing
