// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "lowtide/verify/check_packing.h"
#include "tests/allocate/problems.h"

namespace lowtide::testing {
namespace {

std::string defect_of_slots(const PackingProblem& problem, const SlotAssignment& slots) {
  Bytes total;
  for (Bytes size : slots.sizes) total += size;
  if (total != slots.total) return "the total is not the sum";
  for (PackingId a : all_ids<PackingId>(problem.buffers.size())) {
    if (!slots.sizes.contains(slots.slot[a])) return "no such slot";
    if (problem.buffers[a].size > slots.sizes[slots.slot[a]]) return "larger than its slot";
    for (PackingId b : all_ids<PackingId>(a.index())) {
      const bool clash = slots.slot[a] == slots.slot[b] && problem.buffers[a].size > Bytes(0) &&
                         problem.buffers[b].size > Bytes(0) && live_together(problem.buffers[a], problem.buffers[b]);
      if (clash) return "two that are live together share a slot";
    }
  }
  return "";
}

// The least total, by trying all partitions of the buffers into sets that are never live together. Each buffer goes to
// the set of an earlier buffer, or to a new one.
std::int64_t least_total(const PackingProblem& problem) {
  const auto count = static_cast<std::uint32_t>(problem.buffers.size());
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::vector<std::uint32_t> set(count, 0);
  const auto visit = [&](const auto& self, std::uint32_t at, std::uint32_t sets) -> void {
    if (at == count) {
      std::vector<std::int64_t> size(sets, 0);
      for (std::uint32_t id = 0; id < count; ++id) {
        size[set[id]] = std::max(size[set[id]], problem.buffers[PackingId(id)].size.count());
      }
      std::int64_t total = 0;
      for (std::int64_t one : size) total += one;
      least = std::min(least, total);
      return;
    }
    for (std::uint32_t choice = 0; choice <= sets; ++choice) {
      const bool is_free = std::none_of(set.begin(), set.begin() + at, [&](const std::uint32_t& other) {
        const auto id = static_cast<std::uint32_t>(&other - set.data());
        return other == choice && live_together(problem.buffers[PackingId(id)], problem.buffers[PackingId(at)]);
      });
      if (!is_free) continue;
      set[at] = choice;
      self(self, at + 1, std::max(sets, choice + 1));
    }
  };
  visit(visit, 0, 0);
  return least;
}

// The example of the header: c goes to the slot of a.
TEST(Slots, AreSharedByBuffersWithoutConflict) {
  const PackingProblem problem = problem_of({{0, 3, 8}, {1, 4, 4}, {3, 5, 6}});
  const Result<SlotAssignment> slots = assign_slots(problem);
  EXPECT_EQ(slots->total, Bytes(12));
  EXPECT_EQ(slots->bound, Bytes(12));
  EXPECT_TRUE(slots->proven_optimal);
  EXPECT_EQ(slots->slot[PackingId(2)], slots->slot[PackingId(0)]);
  EXPECT_EQ(defect_of_slots(problem, *slots), "");
}

TEST(Slots, AreNoneForNoBuffers) {
  const Result<SlotAssignment> slots = assign_slots({});
  EXPECT_EQ(slots->total, Bytes(0));
  EXPECT_TRUE(slots->proven_optimal);
  EXPECT_TRUE(slots->sizes.empty());
}

// b and c have no bytes, so all three are in one slot.
TEST(Slots, CostNothingForBuffersWithoutBytes) {
  const PackingProblem problem = problem_of({{0, 3, 8}, {0, 3, 0}, {1, 2, 0}});
  const Result<SlotAssignment> slots = assign_slots(problem);
  EXPECT_EQ(slots->sizes.size(), 1U);
  for (SlotId slot : slots->slot) EXPECT_EQ(slot, SlotId(0));
  EXPECT_EQ(slots->total, Bytes(8));
  EXPECT_EQ(slots->bound, Bytes(8));
  EXPECT_TRUE(slots->proven_optimal);
  // If no buffer has bytes, there is a slot of 0 bytes nevertheless, so that every buffer is in a slot.
  const Result<SlotAssignment> empty = assign_slots(problem_of({{0, 3, 0}, {1, 2, 0}}));
  EXPECT_EQ(empty->sizes.size(), 1U);
  EXPECT_EQ(empty->total, Bytes(0));
}

// If it is stopped before it begins, the answer is that of the greedy strategies, and the bound is that of the moments.
TEST(Slots, AreTheBestSoFarWhenStopped) {
  Random random(61);
  const std::atomic<bool> stop = true;
  int not_proven = 0;
  for (int round = 0; round < 3000; ++round) {
    const PackingProblem problem = random_problem(random, {.most_buffers = 8, .most_size = 12, .moments = 8});
    const Result<SlotAssignment> best = assign_slots(problem);
    const Result<SlotAssignment> stopped = assign_slots(problem, {.stop = &stop});
    ASSERT_EQ(defect_of_slots(problem, *stopped), "") << "round " << round;
    ASSERT_GE(stopped->total, best->total) << "round " << round;
    ASSERT_LE(stopped->bound, best->bound) << "round " << round;
    ASSERT_FALSE(stopped->is_bound_searched) << "round " << round;
    not_proven += stopped->proven_optimal ? 0 : 1;
  }
  EXPECT_GE(not_proven, 5);
}

TEST(Slots, RefuseFixedOffsets) {
  PackingProblem problem = problem_of({{0, 3, 8}});
  problem.buffers[PackingId(0)].fixed_offset = Offset(0);
  const Result<SlotAssignment> slots = assign_slots(problem);
  ASSERT_FALSE(slots.ok());
  EXPECT_EQ(slots.error().code, ErrorCode::invalid);
  EXPECT_EQ(slots.error().describe(),
            "buffer 0: it is fixed at offset 0, but slots have no offsets; remove the fixed offset");
}

TEST(Slots, HaveTheLeastTotalThatBruteForceFinds) {
  Random random(61);
  int searched = 0;
  int above_cliques = 0;
  for (int round = 0; round < 3000; ++round) {
    const PackingProblem problem =
        random_problem(random, {.most_buffers = 8, .most_size = 12, .moments = 8, .gaps = round % 3 == 0});
    const Result<SlotAssignment> slots = assign_slots(problem);
    ASSERT_TRUE(slots.ok());
    ASSERT_EQ(defect_of_slots(problem, *slots), "") << "round " << round;
    ASSERT_TRUE(slots->proven_optimal) << "round " << round;
    ASSERT_EQ(slots->total.count(), least_total(problem)) << "round " << round;
    ASSERT_EQ(slots->bound, slots->total) << "round " << round;
    const bool is_shown = check_slot_bound(problem, slots->bound).is_confirmed;
    ASSERT_NE(is_shown, slots->is_bound_searched) << "round " << round;
    searched += slots->strategy == "exact" ? 1 : 0;
    // Without effort for a search, the bound is that of the moments.
    const Result<SlotAssignment> quick = assign_slots(problem, {.effort = 1});
    ASSERT_EQ(defect_of_slots(problem, *quick), "") << "round " << round;
    ASSERT_LE(quick->bound, slots->total) << "round " << round;
    ASSERT_TRUE(quick->is_bound_searched || check_slot_bound(problem, quick->bound).is_confirmed) << "round " << round;
    ASSERT_GE(quick->total, slots->total) << "round " << round;
    above_cliques += quick->bound < slots->total ? 1 : 0;
  }
  EXPECT_GE(searched, 10);
  EXPECT_GE(above_cliques, 10);
}

TEST(Slots, AreValidAndGoodOnLargerProblems) {
  Random random(62);
  for (int round = 0; round < 60; ++round) {
    const PackingProblem problem =
        random_problem(random, {.most_buffers = 120, .most_size = 1000, .moments = 80, .gaps = round % 2 == 0});
    const Result<SlotAssignment> slots = assign_slots(problem, {.effort = 300'000});
    ASSERT_EQ(defect_of_slots(problem, *slots), "") << "round " << round;
    ASSERT_LE(slots->bound, slots->total) << "round " << round;
    ASSERT_LE(static_cast<double>(slots->total.count()), 1.25 * static_cast<double>(slots->bound.count()));
  }
}

// In the relation, a is in conflict with b and c. Of the slots of 8 and 4 bytes, b and c share the second one.
TEST(Slots, ObeyARelation) {
  PackingProblem problem = problem_of({{0, 1, 8}, {2, 3, 4}, {4, 5, 4}});
  problem.conflicts = {{PackingId(0), PackingId(1)}, {PackingId(0), PackingId(2)}};
  const Result<SlotAssignment> slots = assign_slots(problem);
  EXPECT_EQ(slots->total, Bytes(12));
  EXPECT_EQ(slots->slot[PackingId(1)], slots->slot[PackingId(2)]);
  EXPECT_TRUE(slots->proven_optimal);
  problem.colocations = {{PackingId(1), PackingId(2), Bytes(0)}};
  EXPECT_FALSE(assign_slots(problem).ok());
}

}  // namespace
}  // namespace lowtide::testing
