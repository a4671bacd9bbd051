// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"
#include "lowtide/verify/findings.h"

namespace lowtide {
namespace {

std::string text_of(const RegionCost& cost) {
  std::string text = "{";
  for (std::int64_t level : cost) text += (text.size() > 1 ? ", " : "") + std::to_string(level);
  return text + "}";
}

class RegionPackingCheck {
 public:
  RegionPackingCheck(const RegionProblem& problem, const RegionPacking& packing, const VerifyOptions& options)
      : problem_(problem), packing_(packing), findings_(options) {}

  std::vector<Violation> run() && {
    const std::size_t buffers = problem_.packing.buffers.size();
    if (packing_.placements.size() != buffers || packing_.fills.size() != problem_.regions.size()) {
      add(malformed, std::to_string(packing_.placements.size()) + " placements and " +
                         std::to_string(packing_.fills.size()) + " regions, for " + std::to_string(buffers) +
                         " buffers and " + std::to_string(problem_.regions.size()) + " regions");
      return std::move(findings_).take();
    }
    for (PackingId id : all_ids<PackingId>(buffers)) check_region_of(id);
    if (findings_.count() > 0) return std::move(findings_).take();
    for (const PackingColocation& pair : problem_.packing.colocations) {
      if (region_of(pair.first) == region_of(pair.second)) continue;
      add(misplaced, name(pair.first) + " is in region " + std::to_string(region_of(pair.first).value()) + " and " +
                         name(pair.second) + " in region " + std::to_string(region_of(pair.second).value()) +
                         ", but a colocation joins them");
    }
    for (RegionId region : all_ids<RegionId>(problem_.regions.size())) check_region(region);
    check_cost();
    if (packing_.witness) check_witness(*packing_.witness);
    return std::move(findings_).take();
  }

 private:
  using enum ViolationKind;

  void add(ViolationKind kind, std::string message) { findings_.add(kind, std::move(message)); }
  [[nodiscard]] bool fits() const { return packing_.outcome == PackingOutcome::found; }
  [[nodiscard]] RegionId region_of(PackingId id) const { return packing_.placements[id].region; }
  [[nodiscard]] std::string name(PackingId id) const {
    const StringTable<PackingId>& names = problem_.packing.names;
    return "buffer " + std::to_string(id.value()) +
           (names.contains(id) && !names[id].empty() ? " " + quoted(names[id]) : "");
  }
  [[nodiscard]] bool is_forbidden(PackingId id, RegionId region) const {
    if (!problem_.uses.contains(id)) return false;
    const std::vector<RegionId>& forbidden = problem_.uses[id].forbidden;
    return std::find(forbidden.begin(), forbidden.end(), region) != forbidden.end();
  }
  // The buffer and the other members of its group.
  [[nodiscard]] std::set<PackingId> group_of(PackingId id) const {
    std::set<PackingId> group = {id};
    for (std::size_t before = 0; before != group.size();) {
      before = group.size();
      for (const PackingColocation& pair : problem_.packing.colocations) {
        if (group.contains(pair.first)) group.insert(pair.second);
        if (group.contains(pair.second)) group.insert(pair.first);
      }
    }
    return group;
  }

  void check_region_of(PackingId id) {
    const RegionId region = region_of(id);
    if (!problem_.regions.contains(region)) {
      add(malformed, name(id) + " is in region " + std::to_string(region.value()) + ", but the number of regions is " +
                         std::to_string(problem_.regions.size()));
      return;
    }
    if (!fits()) return;
    if (is_forbidden(id, region))
      add(misplaced, name(id) + " is in region " + std::to_string(region.value()) + ", which is forbidden for it");
    if (!problem_.packing.buffers[id].fixed_offset) return;
    const std::set<PackingId> group = group_of(id);
    for (RegionId home : all_ids<RegionId>(region.value())) {
      if (std::any_of(group.begin(), group.end(), [&](PackingId one) { return is_forbidden(one, home); })) continue;
      add(misplaced, name(id) + " has a fixed offset in region " + std::to_string(home.value()) +
                         ", but is in region " + std::to_string(region.value()));
      return;
    }
  }

  // Checks one region as a packing problem with only the buffers in it.
  void check_region(RegionId region) {
    const PackingRegion& self = problem_.regions[region];
    PackingProblem alone;
    IdVector<PackingId, Offset> offsets;
    IdVector<PackingId, std::optional<PackingId>> inside(packing_.placements.size());
    Bytes height;
    for (PackingId id : all_ids<PackingId>(packing_.placements.size())) {
      if (region_of(id) != region) continue;
      PackingBuffer buffer = problem_.packing.buffers[id];
      if (fits()) buffer.alignment = std::max(buffer.alignment, self.alignment);
      const Offset offset = packing_.placements[id].offset;
      inside[id] = alone.buffers.push_back(buffer);
      alone.names.push_back(problem_.packing.names.contains(id) ? std::string(problem_.packing.names[id])
                                                                : "of " + name(id));
      offsets.push_back(offset);
      const std::optional<std::int64_t> end = checked_add(offset.position(), buffer.size.count());
      if (end) height = std::max(height, Bytes(*end));
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
      if (!inside[pair.first] || !inside[pair.second]) continue;
      alone.colocations.push_back({*inside[pair.first], *inside[pair.second], pair.delta});
    }
    if (fits()) alone.capacity = self.capacity;
    const std::string prefix = "region " + std::to_string(region.value()) + ": ";
    for (Violation& one : check_packing(alone, offsets, {.most_violations = findings_.left()})) {
      one.region = region;
      one.message.insert(0, prefix);
      findings_.add(std::move(one));
    }
    if (packing_.fills[region].height != height) {
      add(wrong_claim, prefix + "the height is " + std::to_string(height.count()) + ", not " +
                           std::to_string(packing_.fills[region].height.count()));
    }
  }

  // The cost by levels, as region_packing.h defines it.
  void check_cost() {
    RegionCost cost(problem_.regions.size() - 1, 0);
    for (PackingId id : all_ids<PackingId>(packing_.placements.size())) {
      const std::int64_t weight = problem_.uses.contains(id) ? problem_.uses[id].weight : 1;
      const std::int64_t bytes = must_multiply(problem_.packing.buffers[id].size.count(), weight);
      const RegionId region = region_of(id);
      for (std::size_t level = 0; level < region.index(); ++level) cost[level] = must_add(cost[level], bytes);
    }
    if (cost != packing_.cost) add(wrong_claim, "the cost is " + text_of(cost) + ", not " + text_of(packing_.cost));
    if (packing_.bound.size() != cost.size() || (fits() && packing_.bound > packing_.cost)) {
      add(wrong_claim, "the bound " + text_of(packing_.bound) + " is above the cost " + text_of(packing_.cost));
    }
    if (packing_.proven_optimal != (fits() && packing_.bound == packing_.cost)) {
      add(wrong_claim, "optimality must be claimed if and only if the packing fits and its cost is the bound");
    }
  }

  [[nodiscard]] bool is_live(PackingId id, std::int64_t time) const {
    const PackingBuffer& buffer = problem_.packing.buffers[id];
    return buffer.lifespan.contains(time) && std::none_of(buffer.gaps.begin(), buffer.gaps.end(),
                                                          [&](const TimeSpan& gap) { return gap.contains(time); });
  }
  [[nodiscard]] bool is_pair(PackingId a, PackingId b) const {
    return std::any_of(problem_.packing.conflicts->begin(), problem_.packing.conflicts->end(),
                       [&](const PackingPair& pair) {
                         return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
                       });
  }
  // Whether the buffer could be in the region if it were alone there: the region is not forbidden, is large enough and
  // suits a fixed offset.
  [[nodiscard]] bool may_lie(PackingId id, RegionId region) const {
    const PackingBuffer& buffer = problem_.packing.buffers[id];
    const PackingRegion& self = problem_.regions[region];
    if (is_forbidden(id, region)) return false;
    const std::int64_t offset = buffer.fixed_offset ? buffer.fixed_offset->position() : 0;
    if (offset % self.alignment.count() != 0) return false;
    for (RegionId home : all_ids<RegionId>(buffer.fixed_offset ? region.value() : 0)) {
      if (!is_forbidden(id, home)) return false;
    }
    return !self.capacity || offset + buffer.size.count() <= self.capacity->count();
  }

  // What makes a witness unreadable. Empty if nothing does. A buffer that is listed twice would be counted twice.
  [[nodiscard]] std::string_view fault_of(const RegionWitness& witness) const {
    const std::set<PackingId> buffers(witness.buffers.begin(), witness.buffers.end());
    const auto is_buffer = [&](PackingId id) { return problem_.packing.buffers.contains(id); };
    const auto is_region = [&](RegionId id) { return problem_.regions.contains(id); };
    if (!std::all_of(buffers.begin(), buffers.end(), is_buffer)) return "it lists a buffer that does not exist";
    if (buffers.size() != witness.buffers.size()) return "it lists a buffer twice";
    if (!std::all_of(witness.regions.begin(), witness.regions.end(), is_region)) {
      return "it lists a region that does not exist";
    }
    if (witness.unit <= Bytes(0)) return "the unit is not positive";
    if (witness.time && problem_.packing.conflicts) return "it names a time, but a list of conflicts replaces time";
    if (!witness.time && !problem_.packing.conflicts && buffers.size() > 1) return "it names no time";
    return "";
  }

  // A witness of a problem with groups is not checked, because members of a group share bytes.
  void check_witness(const RegionWitness& witness) {
    if (packing_.outcome != PackingOutcome::infeasible)
      add(wrong_claim, "there is a witness of infeasibility, but the outcome is not infeasible");
    if (!problem_.packing.colocations.empty()) return;
    if (const std::string_view fault = fault_of(witness); !fault.empty()) {
      return add(wrong_claim, "witness: " + std::string(fault));
    }
    const std::set<RegionId> regions(witness.regions.begin(), witness.regions.end());
    const std::int64_t unit = witness.unit.count();
    const auto rounded = [&](Bytes bytes) { return (bytes.count() + unit - 1) / unit * unit; };
    std::int64_t needed = 0;
    for (PackingId id : witness.buffers) {
      needed = must_add(needed, rounded(problem_.packing.buffers[id].size));
      if (witness.time && !is_live(id, *witness.time)) {
        add(wrong_claim, "witness: " + name(id) + " does not live at " + std::to_string(*witness.time));
      }
      for (PackingId other : witness.buffers) {
        if (witness.buffers.size() > 1 && !witness.time && other != id && !is_pair(id, other)) {
          add(wrong_claim, "witness: " + name(id) + " and " + name(other) + " are not in conflict");
        }
      }
      for (RegionId region : all_ids<RegionId>(problem_.regions.size())) {
        if (may_lie(id, region) && !regions.contains(region)) {
          add(wrong_claim, "witness: " + name(id) + " could lie in region " + std::to_string(region.value()));
        }
        const Bytes alignment = std::max(problem_.packing.buffers[id].alignment, problem_.regions[region].alignment);
        if (regions.contains(region) && alignment.count() % unit != 0) {
          add(wrong_claim, "witness: " + name(id) + " need not lie at a multiple of " + std::to_string(unit));
        }
      }
    }
    std::int64_t capacity = 0;
    for (RegionId region : regions) {
      const std::optional<Bytes> limit = problem_.regions[region].capacity;
      if (!limit) return add(wrong_claim, "witness: region " + std::to_string(region.value()) + " has no limit");
      capacity = must_add(capacity, rounded(*limit));
    }
    if (needed > capacity) return;
    add(wrong_claim, "witness: " + std::to_string(needed) + " bytes fit into " + std::to_string(capacity));
  }

  const RegionProblem& problem_;
  const RegionPacking& packing_;
  verify_internal::Findings findings_;
};

}  // namespace

std::vector<Violation> check_region_packing(const RegionProblem& problem, const RegionPacking& packing,
                                            const VerifyOptions& options) {
  return RegionPackingCheck(problem, packing, options).run();
}

}  // namespace lowtide
