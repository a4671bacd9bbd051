// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
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
  bool all_bounded = false;  // else the last region has no limit in half of the problems
};

// Valid, with capacities around what would be needed.
[[nodiscard]] RegionProblem random_region_problem(Random& random, const RegionFeatures& features);

// Of `boxes`, with weights where given.
[[nodiscard]] RegionProblem region_problem_of(std::initializer_list<Box> boxes,
                                              std::initializer_list<PackingRegion> regions,
                                              std::initializer_list<std::int64_t> weights = {});

// The least cost there is, by trying every region for every buffer, and in each region every order of placing (or, with
// groups, every offset); nothing if nothing fits. For 6 buffers at most.
[[nodiscard]] std::optional<RegionCost> least_cost(const RegionProblem& problem);

}  // namespace lowtide::testing
