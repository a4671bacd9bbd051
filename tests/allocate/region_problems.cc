// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/allocate/region_problems.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/validate.h"
#include "lowtide/allocate/regions/validate_regions.h"

namespace lowtide::testing {
namespace {

RegionId region_id(std::size_t region) { return RegionId(static_cast<std::uint32_t>(region)); }

RegionProblem drawn(Random& random, const RegionFeatures& features) {
  RegionProblem problem;
  problem.packing = random_valid_problem(random, features.packing);
  const std::int64_t load = std::max<std::int64_t>(largest_load(problem.packing), 1);
  const std::int64_t regions = random.between(1, features.most_regions);
  for (std::int64_t at = 0; at < regions; ++at) {
    PackingRegion region;
    const bool is_open = at + 1 == regions && !features.all_bounded && random.chance(50);
    if (!is_open) region.capacity = Bytes(random.between(0, load * 3 / (2 * regions) + 2));
    if (features.alignments && random.chance(40)) region.alignment = Bytes(std::int64_t{1} << random.below(4));
    problem.regions.push_back(region);
  }
  if (!features.weights && !features.forbidden) return problem;
  for (std::size_t at = 0; at < problem.packing.buffers.size(); ++at) {
    RegionUse use;
    if (features.weights) use.weight = random.between(0, 5);
    for (std::size_t region = 0; region < problem.regions.size(); ++region) {
      if (features.forbidden && random.chance(20)) use.forbidden.push_back(region_id(region));
    }
    problem.uses.push_back(use);
  }
  return problem;
}

class BruteForce {
 public:
  explicit BruteForce(const RegionProblem& problem) : problem_(problem), count_(problem.packing.buffers.size()) {}

  std::optional<RegionCost> run() {
    std::optional<RegionCost> least;
    std::vector<std::size_t> region(count_, 0);
    while (true) {
      const RegionCost cost = cost_of(region);
      if ((!least || cost < *least) && is_legal(region) && has_offsets(region)) least = cost;
      std::size_t at = 0;
      while (at < count_ && ++region[at] == problem_.regions.size()) region[at++] = 0;
      if (at == count_) return least;
    }
  }

 private:
  [[nodiscard]] bool is_forbidden(PackingId id, std::size_t region) const {
    if (problem_.uses.empty()) return false;
    const std::vector<RegionId>& forbidden = problem_.uses[id].forbidden;
    return std::find(forbidden.begin(), forbidden.end(), region_id(region)) != forbidden.end();
  }

  [[nodiscard]] RegionCost cost_of(const std::vector<std::size_t>& region) const {
    RegionCost cost(problem_.regions.size() - 1, 0);
    for (PackingId id : all_ids<PackingId>(count_)) {
      const std::int64_t weight = problem_.uses.empty() ? 1 : problem_.uses[id].weight;
      const std::int64_t bytes = weight * problem_.packing.buffers[id].size.count();
      for (std::size_t level = 0; level < region[id.index()]; ++level) cost[level] += bytes;
    }
    return cost;
  }

  [[nodiscard]] bool is_legal(const std::vector<std::size_t>& region) const {
    for (PackingId id : all_ids<PackingId>(count_)) {
      if (is_forbidden(id, region[id.index()])) return false;
    }
    for (const PackingColocation& pair : problem_.packing.colocations) {
      if (region[pair.first.index()] != region[pair.second.index()]) return false;
    }
    return true;
  }

  bool has_offsets(const std::vector<std::size_t>& region) {
    for (std::size_t at = 0; at < problem_.regions.size(); ++at) {
      std::uint32_t set = 0;
      for (std::size_t id = 0; id < count_; ++id) set |= region[id] == at ? std::uint32_t{1} << id : 0;
      const auto [known, is_new] = fits_.try_emplace({at, set}, false);
      if (is_new) known->second = fits(at, set);
      if (!known->second) return false;
    }
    return true;
  }

  // Whether it is the first region that is not forbidden to any buffer of the group.
  [[nodiscard]] bool is_first_allowed(PackingId fixed, std::size_t region) const {
    std::vector<PackingId> group = {fixed};
    for (std::size_t at = 0; at < group.size(); ++at) {
      for (const PackingColocation& pair : problem_.packing.colocations) {
        for (const auto& [one, other] : {std::pair(pair.first, pair.second), std::pair(pair.second, pair.first)}) {
          if (one == group[at] && std::find(group.begin(), group.end(), other) == group.end()) group.push_back(other);
        }
      }
    }
    for (std::size_t before = 0; before < region; ++before) {
      if (std::none_of(group.begin(), group.end(), [&](PackingId id) { return is_forbidden(id, before); }))
        return false;
    }
    return true;
  }

  [[nodiscard]] bool fits(std::size_t region, std::uint32_t set) const {
    if (set == 0) return true;
    const PackingRegion& self = problem_.regions[region_id(region)];
    PackingProblem alone;
    IdVector<PackingId, std::optional<PackingId>> inside(count_);
    for (PackingId id : all_ids<PackingId>(count_)) {
      if (((set >> id.value()) & 1U) == 0) continue;
      PackingBuffer buffer = problem_.packing.buffers[id];
      buffer.alignment = std::max(buffer.alignment, self.alignment);
      if (buffer.fixed_offset && !is_first_allowed(id, region)) return false;
      inside[id] = alone.buffers.push_back(buffer);
    }
    const auto kept = [&](const std::vector<PackingPair>& pairs) {
      std::vector<PackingPair> out;
      for (const PackingPair& pair : pairs) {
        if (inside[pair.first] && inside[pair.second]) out.push_back({*inside[pair.first], *inside[pair.second]});
      }
      return out;
    };
    if (problem_.packing.conflicts) alone.conflicts = kept(*problem_.packing.conflicts);
    for (const PackingColocation& pair : problem_.packing.colocations) {
      if (inside[pair.first]) alone.colocations.push_back({*inside[pair.first], *inside[pair.second], pair.delta});
    }
    if (!allocate_internal::validate_packing_problem(alone).ok()) return false;  // no offset suits the alignments
    if (!self.capacity) return true;
    const bool has_groups = !alone.colocations.empty();
    return (has_groups ? least_height_of_all_offsets(alone) : least_height(alone)) <= self.capacity->count();
  }

  const RegionProblem& problem_;
  std::size_t count_;
  std::map<std::pair<std::size_t, std::uint32_t>, bool> fits_;
};

}  // namespace

RegionProblem random_region_problem(Random& random, const RegionFeatures& features) {
  while (true) {
    RegionProblem problem = drawn(random, features);
    if (allocate_internal::validate_region_problem(problem).ok()) return problem;
  }
}

RegionProblem region_problem_of(std::initializer_list<Box> boxes, std::initializer_list<PackingRegion> regions,
                                std::initializer_list<std::int64_t> weights) {
  RegionProblem problem;
  problem.packing = problem_of(boxes);
  for (const PackingRegion& region : regions) problem.regions.push_back(region);
  for (std::int64_t weight : weights) problem.uses.push_back({.weight = weight, .forbidden = {}});
  return problem;
}

std::optional<RegionCost> least_cost(const RegionProblem& problem) { return BruteForce(problem).run(); }

}  // namespace lowtide::testing
