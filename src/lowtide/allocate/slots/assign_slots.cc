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

constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

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
  std::vector<std::uint32_t> slot;  // by position in the order
  std::int64_t total = 0;
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

  Assigned greedy(bool tightest, Effort& effort) {
    Assigned out;
    std::uint32_t slots = 0;
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const Flags<std::uint32_t> taken = slots_of_earlier(at, out.slot, slots, effort);
      std::uint32_t slot = slots;
      // Slots are numbered as they are opened, so they shrink with the number.
      for (std::uint32_t other = 0; other < slots; ++other) {
        if (taken.test(other)) continue;
        slot = other;
        if (!tightest) break;
      }
      if (slot == slots) out.total += size(at);
      slots = std::max(slots, slot + 1);
      out.slot.push_back(slot);
    }
    return out;
  }

  // Tries everything; true if it came to the end. `best` is lowered on the way.
  bool search(Assigned& best, Effort& effort) {
    std::vector<std::uint32_t> slot;  // of the positions decided
    std::vector<std::uint32_t> open;  // slots before each of these
    std::vector<std::uint32_t> next;  // the slot to try for the position under way
    std::int64_t total = 0;
    std::uint32_t slots = 0;
    next.push_back(0);
    while (!next.empty()) {
      if (effort.exhausted()) return false;
      if (best.total == bound()) return true;
      const std::size_t at = slot.size();
      const std::optional<std::uint32_t> choice =
          at == order_.size() ? std::nullopt : next_choice(at, slot, slots, next.back(), total, best.total, effort);
      if (at == order_.size() && total < best.total) best = {slot, total};
      if (choice) {
        next.back() = *choice + 1;
        open.push_back(slots);
        if (*choice == slots) total += size(at);
        slots = std::max(slots, *choice + 1);
        slot.push_back(*choice);
        next.push_back(0);
        continue;
      }
      next.pop_back();
      if (slot.empty()) return true;
      if (slot.back() == open.back()) total -= size(at - 1);
      slots = open.back();
      slot.pop_back();
      open.pop_back();
    }
    return true;
  }

 private:
  [[nodiscard]] std::int64_t size(std::size_t at) const { return problem_.buffers[order_[at]].size; }

  [[nodiscard]] Flags<std::uint32_t> slots_of_earlier(std::size_t at, const std::vector<std::uint32_t>& slot,
                                                      std::uint32_t slots, Effort& effort) const {
    Flags<std::uint32_t> taken(slots);
    for (std::size_t other : earlier_[at]) taken.set(slot[other]);
    effort.spend(static_cast<std::int64_t>(earlier_[at].size() + slots) + 1);
    return taken;
  }

  // The first slot from `from` on that the position may have; `slots` is a new one. Returns nullopt if none can lead
  // below `best`.
  std::optional<std::uint32_t> next_choice(std::size_t at, const std::vector<std::uint32_t>& slot, std::uint32_t slots,
                                           std::uint32_t from, std::int64_t total, std::int64_t best,
                                           Effort& effort) const {
    const Flags<std::uint32_t> taken = slots_of_earlier(at, slot, slots, effort);
    const auto rest = [&](std::uint32_t opened) { return opened < least_.size() ? least_[opened] : 0; };
    if (total + rest(slots) >= best) return std::nullopt;
    for (std::uint32_t choice = from; choice < slots; ++choice) {
      if (!taken.test(choice)) return choice;
    }
    if (from > slots || total + size(at) + rest(slots + 1) >= best) return std::nullopt;
    return slots;
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
