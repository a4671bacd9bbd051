// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/improve/ejection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/allocate/greedy/placed_index.h"
#include "lowtide/allocate/greedy/placer.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/random.h"

namespace lowtide::allocate_internal {
namespace {

// More than any sum of weights of movable buffers: a step begins with at most 61 each and each of its moves adds at
// most as much, so with limits::kMaxTensors buffers and kMostMoves the sum stays below 2^38. A graph has at most 2^24
// pairs, so sums of immovable weights stay below 2^63.
constexpr std::int64_t kMostMoves = std::int64_t{1} << 31;
constexpr std::int64_t kImmovable = std::int64_t{1} << 38;

// A place for one buffer, and the weight of the buffers in its way.
struct Place {
  std::int64_t offset = 0;
  std::int64_t weight = std::numeric_limits<std::int64_t>::max();
};

// What it costs at first to push a buffer out. A long-lived buffer rarely finds another place.
IdVector<PackingId, std::uint8_t> first_weights(const CompressedProblem& problem) {
  const auto length = [&](PackingId id) {
    const MomentSpan& hull = problem.buffers[id].hull;
    return static_cast<double>(hull.end - hull.begin);
  };
  double longest = 1;
  for (PackingId id : problem.movable) longest = std::max(longest, length(id));
  IdVector<PackingId, std::uint8_t> weights(problem.buffers.size(), 1);
  for (PackingId id : problem.movable) {
    weights[id] =
        static_cast<std::uint8_t>(1 + static_cast<int>(tuning::kEjectionHeaviest * std::sqrt(length(id) / longest)));
  }
  return weights;
}

class Ejection {
 public:
  Ejection(const CompressedProblem& problem, const ConflictGraph* graph, std::uint64_t seed)
      : problem_(problem),
        graph_(graph),
        random_(seed),
        ranges_(problem.buffers.size()),
        first_weights_(first_weights(problem)),
        weights_(problem.buffers.size()) {
    if (graph_ != nullptr) return;
    std::vector<PackingId> all = problem.movable;
    all.insert(all.end(), problem.fixed.begin(), problem.fixed.end());
    index_.emplace(problem, all);
    for (PackingId id : all) index_->insert(id);
  }

  // Starts from `from` and returns places of everything below the target, or null.
  const IdVector<PackingId, AddressRange>* reach(std::int64_t target, const Placements& from, Effort& effort) {
    start(target, from);
    const std::int64_t last_of_step = effort.spent + effort.limit / tuning::kEjectionMostSteps;
    std::int64_t moves_left =
        std::min(tuning::kEjectionMovesPerBuffer * static_cast<std::int64_t>(problem_.movable.size()), kMostMoves);
    while (!outside_.empty()) {
      if (effort.spent > last_of_step || effort.exhausted() || moves_left-- == 0) return nullptr;
      effort.spend(static_cast<std::int64_t>(outside_.size()));
      const PackingId buffer = take_heaviest();
      const Place place = lightest_place(buffer, target, effort);
      if (place.weight >= kImmovable) return nullptr;
      commit(buffer, place);
    }
    return &ranges_;
  }

 private:
  // Neighbours of a buffer, in the order of their addresses at its last visit.
  struct Sorted {
    std::vector<PackingId> by_begin;
    std::vector<PackingId> by_end;
  };

  void start(std::int64_t target, const Placements& from) {
    outside_.clear();
    for (PackingId id : problem_.fixed) {
      weights_[id] = kImmovable;
      ranges_[id] = range_at(id, from.offsets[id]);
    }
    for (PackingId id : problem_.movable) {
      weights_[id] = first_weights_[id];
      ranges_[id] = range_at(id, from.offsets[id]);
      if (ranges_[id].end > target) put_outside(id);
    }
  }

  [[nodiscard]] AddressRange range_at(PackingId id, std::int64_t offset) const {
    return {offset, offset + problem_.buffers[id].size};
  }

  // The largest product of weight and size: hard ones go in while there is room.
  PackingId take_heaviest() {
    const auto heaviness = [&](PackingId id) {
      return static_cast<double>(-weights_[id]) * static_cast<double>(problem_.buffers[id].size);
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
    collect(buffer, effort);
    const std::int64_t highest = (target - self.size) & -self.alignment;
    Place best;
    std::uint64_t ties = 0;
    std::int64_t begun_weight = 0;
    std::int64_t ended_weight = 0;
    auto begun = begins_.begin();
    auto ended = ends_.begin();
    // Candidates in ascending order: the floor, the ends of neighbours and what lies right below them, the top.
    auto above = ends_.begin();
    auto below = begins_.begin();
    for (std::int64_t offset = 0; offset <= highest;) {
      for (; begun != begins_.end() && begun->first < offset + self.size; ++begun) begun_weight += begun->second;
      for (; ended != ends_.end() && ended->first <= offset; ++ended) ended_weight += ended->second;
      const std::int64_t weight = begun_weight - ended_weight;
      if (weight < best.weight) {
        best = {offset, weight};
        ties = 1;
      } else if (weight == best.weight && weight > 0 && random_.below(++ties) == 0) {
        best.offset = offset;
      }
      if (weight == 0 || offset == highest) break;  // the lowest free place, or the last
      std::int64_t next = highest;
      const auto place_above = [&] { return (above->first + self.alignment - 1) & -self.alignment; };
      const auto place_below = [&] { return (below->first - self.size) & -self.alignment; };
      while (above != ends_.end() && place_above() <= offset) ++above;
      while (below != begins_.end() && place_below() <= offset) ++below;
      if (above != ends_.end()) next = std::min(next, place_above());
      if (below != begins_.end()) next = std::min(next, place_below());
      offset = next;
    }
    return best;
  }

  // Ends and begins of the placed neighbours, sorted, with their weights.
  void collect(PackingId buffer, Effort& effort) {
    Sorted& sorted = sorted_[buffer];
    if (sorted.by_begin.empty()) {
      find_neighbours(buffer, sorted.by_begin, effort);
      sorted.by_end = sorted.by_begin;
    }
    sort_again(
        sorted.by_begin, begins_, [](const AddressRange& range) { return range.begin; }, effort);
    sort_again(
        sorted.by_end, ends_, [](const AddressRange& range) { return range.end; }, effort);
    effort.spend(static_cast<std::int64_t>(sorted.by_begin.size()) + 1);
  }

  void find_neighbours(PackingId buffer, std::vector<PackingId>& out, Effort& effort) const {
    if (graph_ != nullptr) {
      const std::span<const PackingId> neighbours = graph_->neighbours(buffer);
      out.assign(neighbours.begin(), neighbours.end());
      return;
    }
    index_->for_each_meeting(problem_.buffers[buffer].hull, effort, [&](PackingId other) {
      if (other != buffer && share_a_moment(problem_, buffer, other)) out.push_back(other);
    });
  }

  // Few neighbours have moved since the last time, so the order is nearly right: inserting is nearly linear. Where it
  // is not, the rest is sorted from scratch.
  // `out`: keys and weights of the placed ones, in the new order.
  template <typename Key>
  void sort_again(std::vector<PackingId>& ids, std::vector<std::pair<std::int64_t, std::int64_t>>& out, const Key& key,
                  Effort& effort) {
    keyed_.clear();
    for (PackingId id : ids) keyed_.emplace_back(key(ranges_[id]), id);
    std::size_t shifts = 0;
    const std::size_t most_shifts = 8 * keyed_.size();
    for (std::size_t at = 1; at < keyed_.size() && shifts <= most_shifts; ++at) {
      if (keyed_[at - 1].first <= keyed_[at].first) continue;
      const std::pair<std::int64_t, PackingId> moving = keyed_[at];
      std::size_t to = at;
      for (; to > 0 && keyed_[to - 1].first > moving.first; --to) keyed_[to] = keyed_[to - 1];
      keyed_[to] = moving;
      shifts += at - to;
    }
    if (shifts > most_shifts) std::sort(keyed_.begin(), keyed_.end());
    effort.spend(static_cast<std::int64_t>(shifts / 8));
    out.clear();
    for (std::size_t at = 0; at < ids.size(); ++at) {
      const PackingId id = keyed_[at].second;
      ids[at] = id;
      if (weights_[id] > 0) out.emplace_back(keyed_[at].first, weights_[id]);
    }
  }

  void commit(PackingId buffer, const Place& place) {
    const AddressRange range = range_at(buffer, place.offset);
    if (place.weight > 0) {
      for (PackingId other : sorted_[buffer].by_begin) {
        if (weights_[other] > 0 && ranges_[other].overlaps(range)) put_outside(other);
      }
      weights_[buffer] -= first_weights_[buffer];
    }
    ranges_[buffer] = range;
    weights_[buffer] = -weights_[buffer];
  }

  void put_outside(PackingId id) {
    weights_[id] = -weights_[id];
    outside_.push_back(id);
  }

  const CompressedProblem& problem_;
  const ConflictGraph* graph_;
  std::optional<PlacedIndex> index_;  // of all buffers, without a graph
  Random random_;
  IdVector<PackingId, AddressRange> ranges_;  // where it is, or was before it was pushed out
  IdVector<PackingId, std::uint8_t> first_weights_;
  IdVector<PackingId, std::int64_t> weights_;  // below 0 while it is outside
  std::vector<PackingId> outside_;
  std::vector<std::pair<std::int64_t, std::int64_t>> begins_;  // of placed neighbours: address, weight
  std::vector<std::pair<std::int64_t, std::int64_t>> ends_;
  std::unordered_map<PackingId, Sorted> sorted_;           // of those that have been looked at
  std::vector<std::pair<std::int64_t, PackingId>> keyed_;  // scratch of sort_again
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

bool lower_by_ejection(const CompressedProblem& problem, const ConflictGraph* graph, const EjectionTurn& turn,
                       Incumbent& best, Effort& effort) {
  constexpr std::string_view kName = "ejection";
  Ejection ejection(problem, graph, turn.seed);
  // Dropping looks at all pairs: where there are too many for a graph, a step keeps what it has reached.
  std::optional<Placer> placer;
  if (graph != nullptr) placer.emplace(problem, graph);
  Placements reached = best.placements();
  const std::int64_t before = reached.height;
  std::int64_t divisor = tuning::kEjectionFirstDivisor;
  for (int failures = 0;
       failures < tuning::kEjectionMostFailures && reached.height > turn.bound && !effort.exhausted();) {
    const std::int64_t step = std::max<std::int64_t>((reached.height - turn.bound) / divisor, 1);
    const IdVector<PackingId, AddressRange>* ranges = ejection.reach(reached.height - step, reached, effort);
    if (ranges == nullptr) {
      ++failures;
      divisor *= 2;
      continue;
    }
    failures = 0;
    divisor = std::max<std::int64_t>(divisor * 2 / 3, 1);
    reached = placements_of(problem, *ranges);
    std::optional<Placements> dropped = placer ? drop(problem, *placer, *ranges, effort) : std::nullopt;
    if (dropped && dropped->height <= reached.height) reached = *std::move(dropped);
    best.offer(reached, kName);
  }
  return reached.height < before;
}

}  // namespace lowtide::allocate_internal
