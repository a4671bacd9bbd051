// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/slots.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/validate.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/range_max.h"

namespace lowtide::allocate_internal {
namespace {

// By size, the largest first; then by begin, so that those of one size are coloured from left to right.
std::vector<PackingId> by_size(const CompressedProblem& problem) {
  std::vector<PackingId> order = problem.movable;
  std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) {
    const CompressedProblem::Buffer& first = problem.buffers[a];
    const CompressedProblem::Buffer& second = problem.buffers[b];
    return std::tuple(-first.size, first.hull.begin, a) < std::tuple(-second.size, second.hull.begin, b);
  });
  return order;
}

// least[k]: bytes that the slots from the k-th largest on have at least together.
std::vector<std::int64_t> least_from(const CompressedProblem& problem, std::span<const PackingId> order) {
  std::vector<std::int64_t> sizes;
  RangeMax alive(std::vector<std::int64_t>(problem.moments(), 0));  // buffers at each moment
  for (PackingId id : order) {
    for (const MomentSpan& part : problem.parts_of(id)) alive.add(part.begin, part.end, 1);
    if (alive.most(0, problem.moments()) > static_cast<std::int64_t>(sizes.size()))
      sizes.push_back(problem.buffers[id].size);
  }
  if (sizes.empty() && !order.empty()) sizes.push_back(problem.buffers[order[0]].size);  // a relation knows no moments
  std::vector<std::int64_t> least(sizes.size() + 1, 0);
  for (std::size_t k = sizes.size(); k-- > 0;) least[k] = least[k + 1] + sizes[k];
  return least;
}

struct Assigned {
  std::vector<std::uint32_t> slot;  // by position in the order; of the first positions
  std::uint32_t slots = 0;          // numbered as they are opened
  std::int64_t total = 0;           // of their sizes
};

class SlotSearch {
 public:
  SlotSearch(const CompressedProblem& problem, const ConflictGraph& graph)
      : problem_(problem),
        order_(by_size(problem)),
        least_(least_from(problem, order_)),
        position_(problem.buffers.size()) {
    for (std::size_t at = 0; at < order_.size(); ++at) position_[order_[at]] = at;
    earlier_.resize(order_.size());
    for (std::size_t at = 0; at < order_.size(); ++at) {
      for (PackingId other : graph.neighbours(order_[at])) {
        if (position_[other] < at) earlier_[at].push_back(position_[other]);
      }
    }
  }

  [[nodiscard]] std::span<const PackingId> order() const { return order_; }
  [[nodiscard]] std::int64_t bound() const { return least_[0]; }

  // O(pairs in conflict). Spends what a look at every slot would take, as `search` does.
  Assigned greedy(bool tightest, Effort& effort) {
    Assigned out;
    std::vector<std::size_t> taken_by;  // by slot: the position, from 1, that last found it taken
    while (out.slot.size() < order_.size()) {
      const std::size_t at = out.slot.size();
      for (std::size_t other : earlier_[at]) taken_by[out.slot[other]] = at + 1;
      effort.spend(static_cast<std::int64_t>(earlier_[at].size() + out.slots) + 1);
      // Slots are numbered as they are opened, so they shrink with the number.
      const auto is_taken = [&](std::uint32_t slot) { return taken_by[slot] == at + 1; };
      std::uint32_t slot = tightest ? out.slots : 0;
      if (tightest) {
        while (slot > 0 && is_taken(slot - 1)) --slot;
        slot = slot == 0 ? out.slots : slot - 1;
      } else {
        while (slot < out.slots && is_taken(slot)) ++slot;
      }
      if (slot == out.slots) taken_by.push_back(0);
      add(out, slot);
    }
    return out;
  }

  // Tries everything. Returns true if it came to the end. `best` is lowered on the way.
  bool search(Assigned& best, Effort& effort) {
    Assigned now;
    std::vector<std::uint32_t> slots_before;  // each of the positions decided
    std::vector<std::uint32_t> next = {0};    // by position: the slot to try next; one more than is decided
    while (!next.empty()) {
      if (effort.exhausted()) return false;
      if (best.total == bound()) return true;
      const bool is_complete = now.slot.size() == order_.size();
      const std::optional<std::uint32_t> choice =
          is_complete ? std::nullopt : next_choice(now, next.back(), best.total, effort);
      if (is_complete && now.total < best.total) best = now;
      if (choice) {
        next.back() = *choice + 1;
        slots_before.push_back(now.slots);
        add(now, *choice);
        next.push_back(0);
        continue;
      }
      next.pop_back();
      if (now.slot.empty()) return true;
      remove_last(now, slots_before.back());
      slots_before.pop_back();
    }
    return true;
  }

 private:
  [[nodiscard]] std::int64_t size(std::size_t at) const { return problem_.buffers[order_[at]].size; }

  // The next position of the order goes to this slot, which is new if it is the count of slots.
  void add(Assigned& now, std::uint32_t slot) const {
    if (slot == now.slots) {
      now.total += size(now.slot.size());
      ++now.slots;
    }
    now.slot.push_back(slot);
  }

  // `slots`: as many as there were before the last position got its slot.
  void remove_last(Assigned& now, std::uint32_t slots) const {
    const bool has_opened = now.slot.back() == slots;
    now.slot.pop_back();
    if (has_opened) now.total -= size(now.slot.size());
    now.slots = slots;
  }

  // Slots of the next position's neighbours.
  [[nodiscard]] Flags<std::uint32_t> slots_of_earlier(const Assigned& now, Effort& effort) const {
    Flags<std::uint32_t> taken(now.slots);
    const std::vector<std::size_t>& earlier = earlier_[now.slot.size()];
    for (std::size_t other : earlier) taken.set(now.slot[other]);
    effort.spend(static_cast<std::int64_t>(earlier.size() + now.slots) + 1);
    return taken;
  }

  // The first slot from `from` on that the next position may have. Returns nullopt if none can lead below `best`.
  std::optional<std::uint32_t> next_choice(const Assigned& now, std::uint32_t from, std::int64_t best,
                                           Effort& effort) const {
    const Flags<std::uint32_t> taken = slots_of_earlier(now, effort);
    const auto rest = [&](std::uint32_t opened) { return opened < least_.size() ? least_[opened] : 0; };
    if (now.total + rest(now.slots) >= best) return std::nullopt;
    for (std::uint32_t choice = from; choice < now.slots; ++choice) {
      if (!taken.test(choice)) return choice;
    }
    if (from > now.slots || now.total + size(now.slot.size()) + rest(now.slots + 1) >= best) return std::nullopt;
    return now.slots;
  }

  const CompressedProblem& problem_;
  std::vector<PackingId> order_;
  std::vector<std::int64_t> least_;
  IdVector<PackingId, std::size_t> position_;
  std::vector<std::vector<std::size_t>> earlier_;  // neighbours before each position
};

SlotAssignment finished(const PackingProblem& problem, const SlotSearch& search, const Assigned& best) {
  SlotAssignment out{.slot = IdVector<PackingId, SlotId>(problem.buffers.size(), SlotId(0))};
  for (std::size_t at = 0; at < search.order().size(); ++at) {
    const PackingId id = search.order()[at];
    if (best.slot[at] == out.sizes.size()) out.sizes.push_back(problem.buffers[id].size);
    out.slot[id] = SlotId(best.slot[at]);
  }
  // Buffers without bytes, or without a moment at which bytes must be kept, need a slot that is large enough.
  Bytes largest;
  for (const PackingBuffer& buffer : problem.buffers) largest = std::max(largest, buffer.size);
  if (out.sizes.empty() && !problem.buffers.empty()) out.sizes.push_back(Bytes(0));
  if (!out.sizes.empty()) out.sizes[SlotId(0)] = std::max(out.sizes[SlotId(0)], largest);
  for (Bytes size : out.sizes) out.total += size;
  return out;
}

Result<void> validate_slot_problem(const PackingProblem& problem) {
  LOWTIDE_RETURN_IF_ERROR(validate_packing_problem(problem));
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    if (!problem.buffers[id].fixed_offset) continue;
    return Error{ErrorCode::invalid, "buffer " + std::to_string(id.index()) + ": has a fixed offset; slots have none"};
  }
  if (!problem.together.empty()) {
    return Error{ErrorCode::invalid, "some buffers are to lie together; slots have no offsets to keep them at", ""};
  }
  return {};
}

Result<SlotAssignment> solve(const PackingProblem& problem, const SlotOptions& options) {
  const CompressedProblem compressed = compress(problem);
  Effort for_graph{.limit =
                       std::max<std::int64_t>(options.effort, 64 * static_cast<std::int64_t>(problem.buffers.size()))};
  const std::optional<ConflictGraph> graph = conflict_graph(compressed, for_graph);
  if (!graph) {
    return Error{ErrorCode::over_limit, std::to_string(count_meeting_pairs(compressed)) +
                                            " pairs of buffers live together, more than an effort of " +
                                            std::to_string(options.effort) + " allows; give more effort"};
  }
  Effort effort{.limit = options.effort, .stop = options.stop};
  SlotSearch search(compressed, *graph);
  Assigned best = search.greedy(true, effort);
  std::string strategy = "tightest";
  if (Assigned other = search.greedy(false, effort); other.total < best.total) {
    best = std::move(other);
    strategy = "roomiest";
  }
  const std::int64_t greedy_total = best.total;
  const bool is_complete = best.total == search.bound() || search.search(best, effort);
  if (best.total < greedy_total) strategy = "exact";

  SlotAssignment out = finished(problem, search, best);
  const Bytes beyond = out.total - Bytes(best.total);  // of what never has to be kept
  out.bound = Bytes(is_complete ? best.total : search.bound()) + beyond;
  out.proven_optimal = is_complete;
  out.is_bound_searched = is_complete && best.total > search.bound();
  out.strategy = std::move(strategy);
  return out;
}

}  // namespace
}  // namespace lowtide::allocate_internal

namespace lowtide {

Result<SlotAssignment> assign_slots(const PackingProblem& problem, const SlotOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(allocate_internal::validate_slot_problem(problem));
  return allocate_internal::solve(problem, options);
}

}  // namespace lowtide
