// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/regions/region_packer.h"

#include <algorithm>
#include <utility>

#include "lowtide/allocate/allocate.h"
#include "lowtide/allocate/greedy/placer.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {
namespace {

// `allocate` does not say what it spent: what its answer shows, and where it found none, all that it was given.
std::int64_t spent_on(const Packing& packing, std::int64_t limit) {
  const auto count = static_cast<std::int64_t>(packing.offsets.size()) + 1;
  const std::int64_t sweep = 8 * count;
  if (packing.outcome == PackingOutcome::not_found) return std::max(limit, sweep);
  if (packing.strategy == "best_fit" && packing.decisions == 0) return sweep;
  if (count > (std::int64_t{1} << 20)) return std::max(limit, sweep);
  return std::max(sweep, std::min(limit, 8 * count * count + 4 * count * std::min(packing.decisions, limit)));
}

}  // namespace

std::vector<PackingPair> RegionPacker::kept(const std::vector<PackingPair>& pairs) const {
  std::vector<PackingPair> out;
  for (const PackingPair& pair : pairs) {
    if (new_ids_[pair.first] && new_ids_[pair.second]) out.push_back({*new_ids_[pair.first], *new_ids_[pair.second]});
  }
  return out;
}

PackingProblem RegionPacker::problem_of(std::size_t region, std::span<const std::size_t> items,
                                        std::vector<PackingId>& ids) {
  for (std::size_t item : items) {
    ids.insert(ids.end(), model_.members_of(item).begin(), model_.members_of(item).end());
  }
  std::sort(ids.begin(), ids.end());
  const PackingProblem& all = problem_.packing;
  PackingProblem out;
  out.buffers.reserve(ids.size());
  for (PackingId id : ids) new_ids_[id] = out.buffers.push_back(all.buffers[id]);
  const Bytes alignment = problem_.regions[RegionId(static_cast<std::uint32_t>(region))].alignment;
  for (std::size_t item : items) {
    if (!model_.is_alignable(item, region)) continue;  // only in an attempt that does not fit anyway
    for (PackingId id : model_.members_of(item)) {
      PackingBuffer& buffer = out.buffers[*new_ids_[id]];
      buffer.alignment = std::max(buffer.alignment, alignment);
    }
  }
  if (all.conflicts) out.conflicts = kept(*all.conflicts);
  for (const PackingTogether& pair : all.together) {
    if (!new_ids_[pair.first]) continue;
    out.together.push_back({*new_ids_[pair.first], *new_ids_[pair.second], pair.delta});
  }
  for (PackingId id : ids) new_ids_[id].reset();
  return out;
}

PackedRegion RegionPacker::solve(std::size_t region, std::span<const std::size_t> items, std::int64_t limit,
                                 bool is_capped) {
  PackedRegion packed;
  PackingProblem problem = problem_of(region, items, packed.ids);
  if (is_capped) problem.capacity = problem_.regions[RegionId(static_cast<std::uint32_t>(region))].capacity;
  const Result<Packing> answer =
      allocate(problem, {.effort = limit, .threads = threads_, .on_improvement = {}, .stop = effort_.stop});
  if (!answer) {
    if (!error_) error_ = answer.error();
    packed.outcome = PackingOutcome::not_found;
    packed.offsets.assign(packed.ids.size(), Offset(0));
    return packed;
  }
  effort_.spend(spent_on(*answer, limit));
  packed.outcome = answer->outcome;
  packed.offsets.assign(answer->offsets.begin(), answer->offsets.end());
  packed.height = answer->height;
  packed.strategy = packed.ids.empty() ? "" : answer->strategy;
  return packed;
}

const PackedRegion& RegionPacker::pack(std::size_t region, std::span<const std::size_t> items, std::int64_t limit) {
  if (items.size() > tuning::kRegionMostKnownSize) {
    last_ = solve(region, items, limit, true);
    return last_;
  }
  std::vector<std::size_t> key(items.begin(), items.end());
  std::sort(key.begin(), key.end());
  key.push_back(region);
  const auto known = known_.find(key);
  effort_.spend(static_cast<std::int64_t>(items.size()) + 1);
  if (known != known_.end()) return known->second;
  last_ = solve(region, items, limit, true);
  if (last_.outcome == PackingOutcome::not_found || known_.size() >= tuning::kRegionMostKnown) return last_;
  return known_.emplace(std::move(key), last_).first->second;
}

PackedRegion RegionPacker::pack_low(std::size_t region, std::span<const std::size_t> items, std::int64_t limit) {
  return solve(region, items, limit, false);
}

std::vector<std::size_t> RegionPacker::fill(std::size_t region, PackedRegion& packed,
                                            std::span<const std::size_t> items, std::span<const std::size_t> promotable,
                                            std::int64_t limit) {
  std::vector<std::size_t> filled;
  if (!problem_.packing.together.empty()) return filled;
  std::vector<std::size_t> all(items.begin(), items.end());
  all.insert(all.end(), promotable.begin(), promotable.end());
  std::vector<PackingId> ids;
  const CompressedProblem compressed = compress(problem_of(region, all, ids));
  const auto new_id = [&](PackingId id) {
    return PackingId(static_cast<std::uint32_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin()));
  };
  Flags<PackingId> is_movable(ids.size());
  for (PackingId id : compressed.movable) is_movable.set(id);
  Placer placer(compressed, nullptr);
  for (std::size_t at = 0; at < packed.ids.size(); ++at) {
    const PackingId id = new_id(packed.ids[at]);
    if (is_movable.test(id)) placer.put(id, packed.offsets[at].position());
  }
  const std::int64_t capacity = problem_.regions[RegionId(static_cast<std::uint32_t>(region))].capacity->count();
  Effort effort = effort_.share(limit);
  for (std::size_t item : promotable) {
    if (effort.exhausted()) break;
    const PackingId own = model_.members_of(item).front();
    const PackingId id = new_id(own);
    if (!is_movable.test(id) || !model_.may(item, region)) continue;
    const std::int64_t offset = placer.choose(id, GapRule::tightest, effort);
    const std::int64_t end = offset + compressed.buffers[id].size;
    if (end > capacity) continue;
    placer.put(id, offset);
    packed.ids.push_back(own);
    packed.offsets.push_back(Offset(offset));
    packed.height = std::max(packed.height, Bytes(end));
    filled.push_back(item);
  }
  effort_.spend(effort.spent);
  return filled;
}

}  // namespace lowtide::allocate_internal
