// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/slots.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/describe_buffer.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/validate.h"
#include "lowtide/allocate/tuning.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/range_max.h"

namespace lowtide::allocate_internal {
namespace {

// A buffer, by its position in the order of assignment.
using Position = Id<struct SlotPositionTag>;

// The largest first. Buffers of one size are in the order of their begins, which colours interval graphs optimally.
IdVector<Position, PackingId> slot_order(const CompressedProblem& problem) {
  std::vector<PackingId> order = problem.movable;
  std::sort(order.begin(), order.end(), [&](PackingId a, PackingId b) {
    const CompressedProblem::Buffer& first = problem.buffers[a];
    const CompressedProblem::Buffer& second = problem.buffers[b];
    return std::tuple(-first.size, first.lifespan.begin, a) < std::tuple(-second.size, second.lifespan.begin, b);
  });
  IdVector<Position, PackingId> out;
  for (PackingId id : order) out.push_back(id);
  return out;
}

// Element k is a lower bound of the bytes of all slots from the k-th largest on.
std::vector<std::int64_t> least_bytes_from(const CompressedProblem& problem,
                                           const IdVector<Position, PackingId>& order) {
  std::vector<std::int64_t> sizes;
  RangeMax live(std::vector<std::int64_t>(problem.moments(), 0));  // buffers at each moment
  for (PackingId id : order) {
    for (const MomentSpan& span : problem.spans_of(id)) live.add(span.begin, span.end, 1);
    const std::int64_t most = live.most(0, problem.moments());
    if (most > static_cast<std::int64_t>(sizes.size())) sizes.push_back(problem.buffers[id].size);
  }
  // A relation has no moments, but one slot holds the largest buffer.
  if (sizes.empty() && !order.empty()) sizes.push_back(problem.buffers[order[Position(0)]].size);
  std::vector<std::int64_t> least(sizes.size() + 1, 0);
  for (std::size_t k = sizes.size(); k-- > 0;) least[k] = least[k + 1] + sizes[k];
  return least;
}

// Slots for the first positions. Slots are numbered as they are opened, so a higher number means a smaller slot.
struct Partial {
  IdVector<Position, SlotId> slot;
  std::uint32_t slots = 0;
  std::int64_t total = 0;  // of the sizes of the slots

  [[nodiscard]] Position next() const { return Position(static_cast<std::uint32_t>(slot.size())); }
  [[nodiscard]] SlotId new_slot() const { return SlotId(slots); }
};

enum class SlotRule : std::uint8_t { tightest, loosest };

// The free slot that the rule prefers, or a new one.
template <typename IsFree>
SlotId first_free(std::uint32_t slots, SlotRule rule, const IsFree& is_free) {
  for (std::uint32_t tried = 0; tried < slots; ++tried) {
    const SlotId slot(rule == SlotRule::loosest ? tried : slots - 1 - tried);
    if (is_free(slot)) return slot;
  }
  return SlotId(slots);
}

class SlotSearch {
 public:
  SlotSearch(const CompressedProblem& problem, const ConflictGraph& graph)
      : problem_(problem),
        order_(slot_order(problem)),
        least_(least_bytes_from(problem, order_)),
        earlier_(order_.size()) {
    IdVector<PackingId, Position> position(problem.buffers.size());
    for (Position at : all_ids<Position>(order_.size())) position[order_[at]] = at;
    for (Position at : all_ids<Position>(order_.size())) {
      for (PackingId other : graph.neighbours(order_[at])) {
        if (position[other] < at) earlier_[at].push_back(position[other]);
      }
    }
  }

  [[nodiscard]] const IdVector<Position, PackingId>& order() const { return order_; }
  [[nodiscard]] std::int64_t bound() const { return least_[0]; }

  // O(conflicts). Spends the effort of a look at every slot, as `search` does.
  Partial greedy(SlotRule rule, Effort& effort) const {
    Partial out;
    IdVector<SlotId, std::optional<Position>> taken_at;  // the last position at which the slot was taken
    while (out.slot.size() < order_.size()) {
      const Position at = out.next();
      for (Position other : earlier_[at]) taken_at[out.slot[other]] = at;
      effort.spend(static_cast<std::int64_t>(earlier_[at].size() + out.slots) + 1);
      const SlotId slot = first_free(out.slots, rule, [&](SlotId candidate) { return taken_at[candidate] != at; });
      if (slot == out.new_slot()) taken_at.push_back(std::nullopt);
      add(out, slot);
    }
    return out;
  }

  // Tries all assignments, and keeps the best one in `best`. Ends early at the bound. Returns false if the effort ends
  // first.
  bool search(Partial& best, Effort& effort) const {
    Partial now;
    std::vector<std::uint32_t> slots_before;  // of each position decided
    std::vector<SlotId> next = {SlotId(0)};   // the slot to try next: of each position decided, and of the one after
    while (!next.empty()) {
      if (effort.exhausted()) return false;
      if (best.total == bound()) return true;
      const bool is_complete = now.slot.size() == order_.size();
      const std::optional<SlotId> choice =
          is_complete ? std::nullopt : next_choice(now, next.back(), best.total, effort);
      if (is_complete && now.total < best.total) best = now;
      if (choice) {
        next.back() = SlotId(choice->value() + 1);
        slots_before.push_back(now.slots);
        add(now, *choice);
        next.push_back(SlotId(0));
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
  [[nodiscard]] std::int64_t size(Position at) const { return problem_.buffers[order_[at]].size; }

  // Assigns the slot, which may be a new one, to the next position.
  void add(Partial& now, SlotId slot) const {
    if (slot == now.new_slot()) {
      now.total += size(now.next());
      ++now.slots;
    }
    now.slot.push_back(slot);
  }

  // Undoes `add`. `slots` is the number of slots before it.
  void remove_last(Partial& now, std::uint32_t slots) const {
    const Position last(static_cast<std::uint32_t>(now.slot.size() - 1));
    if (now.slot[last] == SlotId(slots)) now.total -= size(last);
    now.slot.resize(last.index());
    now.slots = slots;
  }

  // The first slot, from `from` on, for the next position. Returns nullopt if none can lead to a total below `best`.
  std::optional<SlotId> next_choice(const Partial& now, SlotId from, std::int64_t best, Effort& effort) const {
    const std::vector<Position>& earlier = earlier_[now.next()];
    Flags<SlotId> is_taken(now.slots);
    for (Position other : earlier) is_taken.set(now.slot[other]);
    effort.spend(static_cast<std::int64_t>(earlier.size() + now.slots) + 1);
    const auto rest = [&](std::uint32_t opened) { return opened < least_.size() ? least_[opened] : 0; };
    if (now.total + rest(now.slots) >= best) return std::nullopt;
    for (std::uint32_t choice = from.value(); choice < now.slots; ++choice) {
      if (!is_taken.test(SlotId(choice))) return SlotId(choice);
    }
    if (from > now.new_slot() || now.total + size(now.next()) + rest(now.slots + 1) >= best) return std::nullopt;
    return now.new_slot();
  }

  const CompressedProblem& problem_;
  IdVector<Position, PackingId> order_;
  std::vector<std::int64_t> least_;
  IdVector<Position, std::vector<Position>> earlier_;  // neighbours at earlier positions
};

SlotAssignment assignment_of(const PackingProblem& problem, const SlotSearch& search, const Partial& best) {
  SlotAssignment out{.slot = IdVector<PackingId, SlotId>(problem.buffers.size(), SlotId(0))};
  for (Position at : all_ids<Position>(search.order().size())) {
    const PackingId id = search.order()[at];
    if (best.slot[at].index() == out.sizes.size()) out.sizes.push_back(problem.buffers[id].size);
    out.slot[id] = best.slot[at];
  }
  // The other buffers have no bytes or are never active. The first slot must be large enough for them.
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
    return Error{ErrorCode::invalid,
                 "it is fixed at offset " + std::to_string(problem.buffers[id].fixed_offset->position()) +
                     ", but slots have no offsets; remove the fixed offset",
                 describe_buffer(problem, id)};
  }
  if (problem.colocations.empty()) return {};
  return Error{ErrorCode::invalid,
               "there are " + std::to_string(problem.colocations.size()) +
                   " colocations, but slots have no offsets; remove the colocations",
               ""};
}

Result<SlotAssignment> solve(const PackingProblem& problem, const SlotOptions& options) {
  const CompressedProblem compressed = compress(problem);
  const auto buffers = static_cast<std::int64_t>(problem.buffers.size());
  Effort for_graph{.limit = std::max(options.effort, tuning::kSlotsGraphEffortPerBuffer * buffers)};
  const std::optional<ConflictGraph> graph = conflict_graph(compressed, for_graph);
  if (!graph) {
    return Error{ErrorCode::over_limit, "there are " + std::to_string(count_overlapping_pairs(compressed)) +
                                            " pairs of buffers that are live together, more than an effort of " +
                                            std::to_string(options.effort) + " allows; give more effort"};
  }
  Effort effort{.limit = options.effort, .stop = options.stop};
  const SlotSearch search(compressed, *graph);
  Partial best = search.greedy(SlotRule::tightest, effort);
  std::string strategy = "tightest";
  if (Partial other = search.greedy(SlotRule::loosest, effort); other.total < best.total) {
    best = std::move(other);
    strategy = "loosest";
  }
  const std::int64_t greedy_total = best.total;
  const bool is_complete = best.total == search.bound() || search.search(best, effort);
  if (best.total < greedy_total) strategy = "exact";

  SlotAssignment out = assignment_of(problem, search, best);
  const Bytes beyond = out.total - Bytes(best.total);  // for buffers that are never active
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
