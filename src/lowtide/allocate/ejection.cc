// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/ejection.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"

namespace lowtide {
namespace {

constexpr std::int64_t kMovesPerBuffer = 2000;  // in one step, before it counts as failed
constexpr std::int64_t kMostSteps = 16;         // a step that takes a larger share of the effort counts as failed too
constexpr int kMostFailures = 8;                // steps in a row
constexpr std::int64_t kFirstDivisor = 8;       // of the gap: the first step asks for an eighth of it

// More than any sum of weights of movable buffers: a step begins with one each and adds at most kMovesPerBuffer each,
// so with limits::kMaxTensors buffers the sum stays below 10^11. A graph has at most 2^22 pairs, so sums of immovable
// weights stay below 2^63.
constexpr std::int64_t kImmovable = std::int64_t{1} << 40;

// A place for one buffer, and the weight of who is in the way.
struct Place {
  std::int64_t offset = 0;
  std::int64_t weight = std::numeric_limits<std::int64_t>::max();
};

class Ejection {
 public:
  Ejection(const CompressedProblem& problem, const ConflictGraph& graph, std::uint64_t seed)
      : problem_(problem), graph_(graph), random_(seed), ranges_(problem.buffers.size()), weights_(problem.buffers.size()) {}

  // Starts from `from` and returns the offsets of everything below the target, or nothing.
  std::optional<IdVector<PackingId, AddressRange>> reach(std::int64_t target, const Placements& from, Effort& effort) {
    start(target, from);
    const std::int64_t last_of_step = effort.spent + effort.limit / kMostSteps;
    std::int64_t moves_left = kMovesPerBuffer * static_cast<std::int64_t>(problem_.movable.size());
    while (!outside_.empty()) {
      if (effort.spent > last_of_step || effort.exhausted() || moves_left-- == 0) return std::nullopt;
      effort.spend(static_cast<std::int64_t>(outside_.size()));
      const PackingId buffer = take_heaviest();
      const Place place = lightest_place(buffer, target, effort);
      if (place.weight >= kImmovable) return std::nullopt;
      settle(buffer, place);
    }
    return ranges_;
  }

 private:
  void start(std::int64_t target, const Placements& from) {
    outside_.clear();
    std::fill(ranges_.begin(), ranges_.end(), AddressRange{});
    for (PackingId id : problem_.fixed) {
      weights_[id] = kImmovable;
      ranges_[id] = range_at(id, from.offsets[id]);
    }
    for (PackingId id : problem_.movable) {
      weights_[id] = 1;
      const AddressRange range = range_at(id, from.offsets[id]);
      if (range.end <= target) {
        ranges_[id] = range;
      } else {
        outside_.push_back(id);
      }
    }
  }

  [[nodiscard]] AddressRange range_at(PackingId id, std::int64_t offset) const {
    return {offset, offset + problem_.buffers[id].size};
  }

  // The largest product of weight and size: hard ones go in while there is room.
  PackingId take_heaviest() {
    const auto heaviness = [&](PackingId id) {
      return static_cast<double>(weights_[id]) * static_cast<double>(problem_.buffers[id].size);
    };
    const auto heaviest = std::max_element(outside_.begin(), outside_.end(), [&](PackingId a, PackingId b) {
      return std::pair(heaviness(a), b) < std::pair(heaviness(b), a);
    });
    const PackingId buffer = *heaviest;
    outside_.erase(heaviest);
    return buffer;
  }

  // Looks at the places that touch a neighbour, the floor or the target. The weight in the way of [offset, offset +
  // size) is that of the neighbours which begin below its end, less that of those which end at or below its begin.
  Place lightest_place(PackingId buffer, std::int64_t target, Effort& effort) {
    const CompressedProblem::Buffer& self = problem_.buffers[buffer];
    collect(buffer, target, effort);
    Place best;
    std::uint64_t ties = 0;
    std::int64_t begun_weight = 0;
    std::int64_t ended_weight = 0;
    auto begun = begins_.begin();
    auto ended = ends_.begin();
    for (std::int64_t offset : candidates_) {
      for (; begun != begins_.end() && begun->first < offset + self.size; ++begun) begun_weight += begun->second;
      for (; ended != ends_.end() && ended->first <= offset; ++ended) ended_weight += ended->second;
      const std::int64_t weight = begun_weight - ended_weight;
      if (weight < best.weight) {
        best = {offset, weight};
        ties = 1;
      } else if (weight == best.weight && weight > 0 && random_.below(++ties) == 0) {
        best.offset = offset;
      }
      if (weight == 0) break;  // the lowest free place
    }
    return best;
  }

  void collect(PackingId buffer, std::int64_t target, Effort& effort) {
    const CompressedProblem::Buffer& self = problem_.buffers[buffer];
    const std::int64_t highest = (target - self.size) & -self.alignment;
    begins_.clear();
    ends_.clear();
    candidates_.assign({0, highest});
    for (PackingId other : graph_.neighbours(buffer)) {
      const AddressRange& range = ranges_[other];
      if (range.empty()) continue;
      begins_.emplace_back(range.begin, weights_[other]);
      ends_.emplace_back(range.end, weights_[other]);
      const std::int64_t above = (range.end + self.alignment - 1) & -self.alignment;
      if (above <= highest) candidates_.push_back(above);
      if (range.begin >= self.size) candidates_.push_back((range.begin - self.size) & -self.alignment);
    }
    std::sort(begins_.begin(), begins_.end());
    std::sort(ends_.begin(), ends_.end());
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
    effort.spend(static_cast<std::int64_t>(graph_.neighbours(buffer).size()) + 1);
  }

  void settle(PackingId buffer, const Place& place) {
    const AddressRange range = range_at(buffer, place.offset);
    if (place.weight > 0) {
      for (PackingId other : graph_.neighbours(buffer)) {
        if (!ranges_[other].meets(range)) continue;
        ranges_[other] = {};
        outside_.push_back(other);
      }
      ++weights_[buffer];
    }
    ranges_[buffer] = range;
  }

  const CompressedProblem& problem_;
  const ConflictGraph& graph_;
  Random random_;
  IdVector<PackingId, AddressRange> ranges_;  // empty: outside
  IdVector<PackingId, std::int64_t> weights_;
  std::vector<PackingId> outside_;
  std::vector<std::pair<std::int64_t, std::int64_t>> begins_;  // of placed neighbours: address, weight
  std::vector<std::pair<std::int64_t, std::int64_t>> ends_;
  std::vector<std::int64_t> candidates_;
};

// Places everything again from the floor up, each at the lowest place free. None ends higher than before: whoever was
// below it has not risen, so its own bytes are still free when its turn comes.
std::optional<Placements> drop(const CompressedProblem& problem, Placer& placer,
                               const IdVector<PackingId, AddressRange>& ranges, Effort& effort) {
  std::vector<PackingId> order = problem.movable;
  std::sort(order.begin(), order.end(),
            [&](PackingId a, PackingId b) { return std::pair(ranges[a].begin, a) < std::pair(ranges[b].begin, b); });
  return place_in_order(placer, order, GapRule::lowest, effort);
}

}  // namespace

bool lower_by_ejection(const CompressedProblem& problem, const ConflictGraph& graph, std::int64_t bound,
                       std::uint64_t seed, Placements& best, Effort& effort) {
  Ejection ejection(problem, graph, seed);
  Placer placer(problem, &graph);
  const std::int64_t before = best.height;
  std::int64_t divisor = kFirstDivisor;
  for (int failures = 0; failures < kMostFailures && best.height > bound && !effort.exhausted();) {
    const std::int64_t step = std::max<std::int64_t>((best.height - bound) / divisor, 1);
    const std::optional<IdVector<PackingId, AddressRange>> ranges = ejection.reach(best.height - step, best, effort);
    if (!ranges) {
      ++failures;
      divisor *= 2;
      continue;
    }
    failures = 0;
    divisor = std::max<std::int64_t>(divisor * 2 / 3, 1);
    best = placements_of(problem, *ranges);
    const std::optional<Placements> dropped = drop(problem, placer, *ranges, effort);
    if (dropped && dropped->height <= best.height) best = *dropped;
  }
  return best.height < before;
}

}  // namespace lowtide
