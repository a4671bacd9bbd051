// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_packer.h"

#include <algorithm>

#include "lowtide/allocate/allocate.h"
#include "lowtide/allocate/greedy/greedy_allocator.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

// An estimate of the effort of a packing, because `allocate` does not report it. A packing that found nothing has spent
// its limit.
std::int64_t effort_of(const Packing& packing, std::int64_t limit) {
  const auto count = static_cast<std::int64_t>(packing.offsets.size()) + 1;
  const std::int64_t sweep = tuning::kRegionSweepEffort * count;
  if (packing.outcome == PackingOutcome::not_found) return std::max(limit, sweep);
  if (packing.strategy == "best_fit" && packing.decisions == 0) return sweep;
  if (count > (std::int64_t{1} << 20)) return std::max(limit, sweep);  // its square could overflow
  const std::int64_t orders = tuning::kRegionOrdersEffort * count * count;
  const std::int64_t searches = tuning::kRegionDecisionEffort * count * std::min(packing.decisions, limit);
  return std::max(sweep, std::min(limit, orders + searches));
}

}  // namespace

std::vector<PackingPair> RegionPacker::with_new_ids(const std::vector<PackingPair>& pairs) const {
  std::vector<PackingPair> out;
  for (const PackingPair& pair : pairs) {
    if (new_ids_[pair.first] && new_ids_[pair.second]) out.push_back({*new_ids_[pair.first], *new_ids_[pair.second]});
  }
  return out;
}

PackingProblem RegionPacker::problem_of(RegionId region, std::span<const GroupId> groups, std::vector<PackingId>& ids) {
  for (GroupId group : groups) {
    ids.insert(ids.end(), model_.members_of(group).begin(), model_.members_of(group).end());
  }
  std::sort(ids.begin(), ids.end());
  const PackingProblem& all = problem_.packing;
  PackingProblem out;
  out.buffers.reserve(ids.size());
  for (PackingId id : ids) new_ids_[id] = out.buffers.push_back(all.buffers[id]);
  for (GroupId group : groups) {
    if (!model_.is_alignable(group, region)) continue;  // only in an attempt that does not fit
    for (PackingId id : model_.members_of(group)) {
      PackingBuffer& buffer = out.buffers[*new_ids_[id]];
      buffer.alignment = std::max(buffer.alignment, problem_.regions[region].alignment);
    }
  }
  if (all.conflicts) out.conflicts = with_new_ids(*all.conflicts);
  for (const PackingColocation& pair : all.colocations) {
    if (!new_ids_[pair.first]) continue;
    out.colocations.push_back({*new_ids_[pair.first], *new_ids_[pair.second], pair.delta});
  }
  for (PackingId id : ids) new_ids_[id].reset();
  return out;
}

PackedRegion RegionPacker::solve(RegionId region, std::span<const GroupId> groups, std::int64_t limit,
                                 std::optional<Bytes> capacity) {
  PackedRegion packed;
  PackingProblem problem = problem_of(region, groups, packed.ids);
  problem.capacity = capacity;
  const Result<Packing> answer =
      allocate(problem, {.effort = limit, .threads = threads_, .on_improvement = {}, .stop = effort_.stop});
  if (!answer) {
    if (!error_) error_ = answer.error();
    packed.outcome = PackingOutcome::not_found;
    packed.offsets.assign(packed.ids.size(), Offset(0));
    return packed;
  }
  effort_.spend(effort_of(*answer, limit));
  packed.outcome = answer->outcome;
  packed.offsets.assign(answer->offsets.begin(), answer->offsets.end());
  packed.height = answer->height;
  packed.strategy = packed.ids.empty() ? "" : answer->strategy;
  return packed;
}

const PackedRegion& RegionPacker::pack(RegionId region, std::span<const GroupId> groups, std::int64_t limit) {
  const std::optional<Bytes> capacity = problem_.regions[region].capacity;
  if (groups.size() > tuning::kRegionMostStoredSize) {
    last_ = solve(region, groups, limit, capacity);
    return last_;
  }
  std::pair<RegionId, std::vector<GroupId>> key{region, {groups.begin(), groups.end()}};
  std::sort(key.second.begin(), key.second.end());
  const auto stored = stored_.find(key);
  effort_.spend(static_cast<std::int64_t>(groups.size()) + 1);
  if (stored != stored_.end()) return stored->second;
  last_ = solve(region, groups, limit, capacity);
  if (last_.outcome == PackingOutcome::not_found || stored_.size() >= tuning::kRegionMostStored) return last_;
  return stored_.emplace(std::move(key), last_).first->second;
}

PackedRegion RegionPacker::pack_low(RegionId region, std::span<const GroupId> groups, std::int64_t limit) {
  return solve(region, groups, limit, std::nullopt);
}

std::vector<GroupId> RegionPacker::fill(RegionId region, PackedRegion& packed, std::span<const GroupId> groups,
                                        std::span<const GroupId> promotable, std::int64_t limit) {
  std::vector<GroupId> filled;
  if (!problem_.packing.colocations.empty()) return filled;
  std::vector<GroupId> all(groups.begin(), groups.end());
  all.insert(all.end(), promotable.begin(), promotable.end());
  std::vector<PackingId> ids;
  const CompressedProblem compressed = compress(problem_of(region, all, ids));
  const auto new_id = [&](PackingId id) {
    return PackingId(static_cast<std::uint32_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin()));
  };
  Flags<PackingId> is_movable(ids.size());
  for (PackingId id : compressed.movable) is_movable.set(id);
  GreedyAllocator allocator(compressed);
  for (std::size_t at = 0; at < packed.ids.size(); ++at) {
    const PackingId id = new_id(packed.ids[at]);
    if (is_movable.test(id)) allocator.assign(id, packed.offsets[at].position());
  }
  const std::int64_t capacity = problem_.regions[region].capacity->count();
  Effort effort = effort_.share(limit);
  for (GroupId group : promotable) {
    if (effort.exhausted()) break;
    const PackingId own = model_.members_of(group).front();
    const PackingId id = new_id(own);
    if (!is_movable.test(id) || !model_.is_allowed(group, region)) continue;
    const std::int64_t offset = allocator.find_offset_for(id, FitRule::tightest, effort);
    const std::int64_t end = offset + compressed.buffers[id].size;
    if (end > capacity) continue;
    allocator.assign(id, offset);
    packed.ids.push_back(own);
    packed.offsets.push_back(Offset(offset));
    packed.height = std::max(packed.height, Bytes(end));
    filled.push_back(group);
  }
  effort_.spend(effort.spent);
  return filled;
}

}  // namespace lowtide::allocate_internal
