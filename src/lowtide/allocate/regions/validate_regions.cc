// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/validate_regions.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lowtide/allocate/problem/describe_buffer.h"
#include "lowtide/allocate/problem/validate.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"

namespace lowtide::allocate_internal {
namespace {

Error refuse(ErrorCode code, std::string message, std::string place) {
  return Error{code, std::move(message), std::move(place)};
}

Result<void> validate_region(const RegionProblem& problem, RegionId id) {
  const PackingRegion& region = problem.regions[id];
  const std::string place = "region " + std::to_string(id.value());
  if (region.capacity && region.capacity->count() < 0) {
    return refuse(ErrorCode::invalid, "the capacity " + std::to_string(region.capacity->count()) + " is below 0",
                  place);
  }
  const std::int64_t alignment = region.alignment.count();
  if (!is_power_of_two(alignment)) {
    return refuse(ErrorCode::invalid, "the alignment " + std::to_string(alignment) + " is not a power of two", place);
  }
  if (alignment > limits::kMaxAlignment) {
    return refuse(ErrorCode::over_limit,
                  "the alignment " + std::to_string(alignment) +
                      " is above kMaxAlignment = " + std::to_string(limits::kMaxAlignment),
                  place);
  }
  return {};
}

Result<void> validate_use(const RegionProblem& problem, PackingId id) {
  const RegionUse& use = problem.uses[id];
  const std::string place = describe_buffer(problem.packing, id);
  if (use.weight < 0) {
    return refuse(ErrorCode::invalid, "the weight " + std::to_string(use.weight) + " is below 0", place);
  }
  for (RegionId region : use.forbidden) {
    if (problem.regions.contains(region)) continue;
    return refuse(ErrorCode::invalid,
                  "region " + std::to_string(region.value()) + " is forbidden for it, but the number of regions is " +
                      std::to_string(problem.regions.size()),
                  place);
  }
  const std::set<RegionId> forbidden(use.forbidden.begin(), use.forbidden.end());
  if (forbidden.size() == problem.regions.size())
    return refuse(ErrorCode::invalid,
                  "all " + std::to_string(forbidden.size()) + " regions are forbidden for it; allow at least one",
                  place);
  return {};
}

// The sum of the weighted bytes is an upper bound of every number of the cost.
Result<void> validate_cost(const RegionProblem& problem) {
  std::optional<std::int64_t> total = 0;
  for (PackingId id : all_ids<PackingId>(problem.packing.buffers.size())) {
    const std::int64_t weight = problem.uses.empty() ? 1 : problem.uses[id].weight;
    const std::optional<std::int64_t> cost = checked_multiply(problem.packing.buffers[id].size.count(), weight);
    if (cost) total = checked_add(*total, *cost);
    if (cost && total && *total <= limits::kMaxTotalBytes) continue;
    return refuse(ErrorCode::over_limit,
                  "the products of size and weight up to this buffer add up to more than kMaxTotalBytes = " +
                      std::to_string(limits::kMaxTotalBytes) + "; use smaller weights",
                  describe_buffer(problem.packing, id));
  }
  return {};
}

// Checks the sum of the sizes with the padding of the region that has the largest alignment.
Result<void> validate_padded_sizes(const RegionProblem& problem) {
  Bytes alignment(1);
  for (const PackingRegion& region : problem.regions) alignment = std::max(alignment, region.alignment);
  PackingProblem padded;
  padded.names = problem.packing.names;
  for (const PackingBuffer& buffer : problem.packing.buffers) {
    padded.buffers.push_back({.lifespan = {0, 1},
                              .gaps = {},
                              .size = buffer.size,
                              .alignment = std::max(buffer.alignment, alignment),
                              .fixed_offset = std::nullopt});
  }
  return validate_packing_problem(padded);
}

}  // namespace

Result<void> validate_region_problem(const RegionProblem& problem) {
  LOWTIDE_RETURN_IF_ERROR(validate_packing_problem(problem.packing));
  if (problem.packing.capacity) {
    return refuse(ErrorCode::invalid,
                  "the packing problem has a capacity of " + std::to_string(problem.packing.capacity->count()) +
                      "; give capacities to the regions instead",
                  "");
  }
  const auto regions = static_cast<std::int64_t>(problem.regions.size());
  if (regions == 0) return refuse(ErrorCode::invalid, "there are no regions; give at least one", "");
  if (regions > limits::kMaxRegions) {
    return refuse(
        ErrorCode::over_limit,
        "there are " + std::to_string(regions) + " regions, above kMaxRegions = " + std::to_string(limits::kMaxRegions),
        "");
  }
  for (RegionId id : all_ids<RegionId>(problem.regions.size())) LOWTIDE_RETURN_IF_ERROR(validate_region(problem, id));
  const std::size_t buffers = problem.packing.buffers.size();
  if (!problem.uses.empty() && problem.uses.size() != buffers) {
    return refuse(ErrorCode::invalid,
                  "there are " + std::to_string(problem.uses.size()) + " uses for " + std::to_string(buffers) +
                      " buffers; give one per buffer, or none at all",
                  "");
  }
  for (PackingId id : all_ids<PackingId>(problem.uses.size())) LOWTIDE_RETURN_IF_ERROR(validate_use(problem, id));
  LOWTIDE_RETURN_IF_ERROR(validate_cost(problem));
  return validate_padded_sizes(problem);
}

}  // namespace lowtide::allocate_internal
