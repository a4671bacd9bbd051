// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/improve/ejection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/allocate/greedy/greedy_allocator.h"
#include "lowtide/allocate/greedy/overlap_index.h"
#include "lowtide/allocate/problem/align.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/random.h"

namespace lowtide::allocate_internal {
namespace {

// kImmovable is above any sum of weights of movable buffers. A step begins with weights of at most 61, and each move
// adds at most 61. With limits::kMaxTensors buffers and kMostMoves moves, the sum stays below 2^38. A buffer has
// at most 2^24 neighbours in a graph, so sums of immovable weights stay below 2^63.
constexpr std::int64_t kMostMoves = std::int64_t{1} << 31;
constexpr std::int64_t kImmovable = std::int64_t{1} << 38;

// An offset for one buffer, and the weight of the buffers in its way.
struct Choice {
  std::int64_t offset = 0;
  std::int64_t weight = std::numeric_limits<std::int64_t>::max();
};

// The begin or the end of a neighbour that has an offset.
struct Boundary {
  std::int64_t address = 0;
  std::int64_t weight = 0;
};

// The initial cost of taking out each buffer. A long-lived buffer rarely finds another offset, so it weighs more.
IdVector<PackingId, std::uint8_t> first_weights(const CompressedProblem& problem) {
  const auto length = [&](PackingId id) {
    const MomentSpan& lifespan = problem.buffers[id].lifespan;
    return static_cast<double>(lifespan.end - lifespan.begin);
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
    const std::vector<PackingId> all = problem.participants();
    index_.emplace(problem, all);
    for (PackingId id : all) index_->insert(id);
  }

  // Makes one step from the placements `from`. Returns the ranges of all buffers, which end at or below the target.
  // Returns null if it finds none.
  const IdVector<PackingId, AddressRange>* reach(std::int64_t target, const Placements& from, Effort& effort) {
    start(target, from);
    const std::int64_t last_of_step = effort.spent + effort.limit / tuning::kEjectionMostSteps;
    std::int64_t moves_left =
        std::min(tuning::kEjectionMovesPerBuffer * static_cast<std::int64_t>(problem_.movable.size()), kMostMoves);
    while (!outside_.empty()) {
      if (effort.spent > last_of_step || effort.exhausted() || moves_left-- == 0) return nullptr;
      effort.spend(static_cast<std::int64_t>(outside_.size()));
      const PackingId buffer = take_heaviest();
      collect_boundaries(buffer, effort);
      const Choice choice = lightest_choice(problem_.buffers[buffer], target);
      if (choice.weight >= kImmovable) return nullptr;
      assign(buffer, choice);
    }
    return &ranges_;
  }

 private:
  // The neighbours of a buffer, as they were sorted at its last move.
  struct Sorted {
    std::vector<PackingId> by_begin;
    std::vector<PackingId> by_end;
  };

  void start(std::int64_t target, const Placements& from) {
    outside_.clear();
    is_outside_ = Flags<PackingId>(problem_.buffers.size());
    for (const CompressedProblem::FixedBuffer& buffer : problem_.fixed) {
      weights_[buffer.id] = kImmovable;
      ranges_[buffer.id] = range_at(buffer.id, buffer.offset);
    }
    for (PackingId id : problem_.movable) {
      weights_[id] = first_weights_[id];
      ranges_[id] = range_at(id, from.offsets[id]);
      if (ranges_[id].end > target) take_out(id);
    }
  }

  [[nodiscard]] AddressRange range_at(PackingId id, std::int64_t offset) const {
    return {offset, offset + problem_.buffers[id].size};
  }

  void take_out(PackingId id) {
    is_outside_.set(id);
    outside_.push_back(id);
  }

  // Removes the buffer with the largest product of weight and size from `outside_`. So the hardest buffers are assigned
  // while there is still space.
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

  // Tries the offsets at which the buffer touches a neighbour, the ground or the target, in ascending order. Stops at
  // the first one without a buffer in the way. The neighbours in the way of [offset, offset + size) are those that
  // begin below its end, except those that end at or below its begin.
  Choice lightest_choice(const CompressedProblem::Buffer& self, std::int64_t target) {
    const std::int64_t highest = aligned_down(target - self.size, self.alignment());
    Choice best;
    std::uint64_t ties = 0;
    std::int64_t weight_begun = 0;
    std::int64_t weight_ended = 0;
    auto begun = begins_.begin();
    auto ended = ends_.begin();
    auto above = ends_.begin();    // the next candidate on top of a neighbour
    auto below = begins_.begin();  // the next candidate right below a neighbour
    const auto offset_above = [&] { return aligned_up(above->address, self.alignment()); };
    const auto offset_below = [&] { return aligned_down(below->address - self.size, self.alignment()); };
    for (std::int64_t offset = 0; offset <= highest;) {
      for (; begun != begins_.end() && begun->address < offset + self.size; ++begun) weight_begun += begun->weight;
      for (; ended != ends_.end() && ended->address <= offset; ++ended) weight_ended += ended->weight;
      const std::int64_t weight = weight_begun - weight_ended;
      if (weight < best.weight) {
        best = {offset, weight};
        ties = 1;
      } else if (weight == best.weight && weight > 0 && random_.below(++ties) == 0) {
        best.offset = offset;
      }
      if (weight == 0 || offset == highest) break;
      while (above != ends_.end() && offset_above() <= offset) ++above;
      while (below != begins_.end() && offset_below() <= offset) ++below;
      std::int64_t next = highest;
      if (above != ends_.end()) next = std::min(next, offset_above());
      if (below != begins_.end()) next = std::min(next, offset_below());
      offset = next;
    }
    return best;
  }

  // Fills `begins_` and `ends_`.
  void collect_boundaries(PackingId buffer, Effort& effort) {
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
    index_->for_each_overlapping(problem_.buffers[buffer].lifespan, effort, [&](PackingId other) {
      if (other != buffer && are_live_together(problem_, buffer, other)) out.push_back(other);
    });
  }

  // Sorts the neighbours by an address of their ranges, and lists those that are not outside in `out`. Few neighbours
  // have moved since the last time, so an insertion sort is nearly linear. If many have moved, a full sort
  // replaces it.
  template <typename Address>
  void sort_again(std::vector<PackingId>& ids, std::vector<Boundary>& out, const Address& address, Effort& effort) {
    keyed_.clear();
    for (PackingId id : ids) keyed_.emplace_back(address(ranges_[id]), id);
    std::size_t shifts = 0;
    const std::size_t most_shifts = tuning::kEjectionMostShifts * keyed_.size();
    for (std::size_t at = 1; at < keyed_.size() && shifts <= most_shifts; ++at) {
      if (keyed_[at - 1].first <= keyed_[at].first) continue;
      const std::pair<std::int64_t, PackingId> moving = keyed_[at];
      std::size_t to = at;
      for (; to > 0 && keyed_[to - 1].first > moving.first; --to) keyed_[to] = keyed_[to - 1];
      keyed_[to] = moving;
      shifts += at - to;
    }
    if (shifts > most_shifts) std::sort(keyed_.begin(), keyed_.end());
    effort.spend(static_cast<std::int64_t>(shifts) / tuning::kEjectionShiftsPerEffort);
    out.clear();
    for (std::size_t at = 0; at < ids.size(); ++at) {
      const PackingId id = keyed_[at].second;
      ids[at] = id;
      if (!is_outside_.test(id)) out.push_back({keyed_[at].first, weights_[id]});
    }
  }

  // Takes out the buffers in the way, and assigns the offset.
  void assign(PackingId buffer, const Choice& choice) {
    const AddressRange range = range_at(buffer, choice.offset);
    if (choice.weight > 0) {
      for (PackingId other : sorted_[buffer].by_begin) {
        if (!is_outside_.test(other) && ranges_[other].overlaps(range)) take_out(other);
      }
      weights_[buffer] += first_weights_[buffer];
    }
    ranges_[buffer] = range;
    is_outside_.reset(buffer);
  }

  const CompressedProblem& problem_;
  const ConflictGraph* graph_;
  std::optional<OverlapIndex> index_;  // of all buffers; used if there is no graph
  Random random_;
  IdVector<PackingId, AddressRange> ranges_;  // for a buffer that is outside, the range that it left
  IdVector<PackingId, std::uint8_t> first_weights_;
  IdVector<PackingId, std::int64_t> weights_;
  std::vector<PackingId> outside_;
  Flags<PackingId> is_outside_;
  std::vector<Boundary> begins_;  // of the neighbours that are not outside, ascending
  std::vector<Boundary> ends_;
  std::unordered_map<PackingId, Sorted> sorted_;           // of the buffers that have moved
  std::vector<std::pair<std::int64_t, PackingId>> keyed_;  // scratch of sort_again
};

// Assigns all offsets again from the ground upwards, and gives each buffer the lowest free offset. No buffer ends
// higher than before, because the buffers below it have not risen. So its old bytes are still free when its turn comes.
std::optional<Placements> drop(const CompressedProblem& problem, GreedyAllocator& allocator,
                               const IdVector<PackingId, AddressRange>& ranges, Effort& effort) {
  std::vector<PackingId> order = problem.movable;
  std::sort(order.begin(), order.end(),
            [&](PackingId a, PackingId b) { return std::pair(ranges[a].begin, a) < std::pair(ranges[b].begin, b); });
  return allocate_in_order(allocator, order, FitRule::lowest, effort);
}

}  // namespace

bool lower_by_ejection(const CompressedProblem& problem, const ConflictGraph* graph, const EjectionOptions& options,
                       Incumbent& best, Effort& effort) {
  constexpr std::string_view kName = "ejection";
  Ejection ejection(problem, graph, options.seed);
  GreedyAllocator allocator(problem, graph);
  Placements reached = best.placements();
  const std::int64_t before = reached.height;
  std::int64_t divisor = tuning::kEjectionFirstDivisor;
  for (int failures = 0;
       failures < tuning::kEjectionMostFailures && reached.height > options.bound && !effort.exhausted();) {
    const std::int64_t step = std::max<std::int64_t>((reached.height - options.bound) / divisor, 1);
    const IdVector<PackingId, AddressRange>* ranges = ejection.reach(reached.height - step, reached, effort);
    if (ranges == nullptr) {
      ++failures;
      divisor *= 2;
      continue;
    }
    failures = 0;
    divisor = std::max<std::int64_t>(divisor * 2 / 3, 1);
    reached = placements_of(problem, *ranges);
    std::optional<Placements> dropped = drop(problem, allocator, *ranges, effort);
    if (dropped && dropped->height <= reached.height) reached = *std::move(dropped);
    best.offer(reached, kName);
  }
  return reached.height < before;
}

}  // namespace lowtide::allocate_internal
