// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/violations.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

//   a |=====|      8         slot 0: a, then c     slot 1: b
//   b   |=====|    4
//   c       |===|  6
PackingProblem three_in_slots() {
  PackingProblem problem;
  problem.buffers.push_back({.lifespan = {0, 4}, .size = Bytes(8)});
  problem.buffers.push_back({.lifespan = {2, 6}, .size = Bytes(4)});
  problem.buffers.push_back({.lifespan = {4, 8}, .size = Bytes(6)});
  return problem;
}

SlotClaim claim_of(std::initializer_list<std::uint32_t> slots, std::vector<Bytes> sizes, Bytes total) {
  SlotClaim claim{.slot = {}, .sizes = std::move(sizes), .total = total};
  for (std::uint32_t slot : slots) claim.slot.push_back(slot);
  return claim;
}

std::vector<std::string> found(const PackingProblem& problem, const SlotClaim& claim) {
  return testing::messages_of(check_slots(problem, claim));
}

TEST(SlotCheck, AcceptsSlotsThatHoldBuffersInTurn) {
  EXPECT_THAT(found(three_in_slots(), claim_of({0, 1, 0}, {Bytes(8), Bytes(4)}, Bytes(12))), IsEmpty());
  EXPECT_THAT(found({}, {}), IsEmpty());
}

TEST(SlotCheck, FindsTwoLiveBuffersInOneSlot) {
  EXPECT_THAT(found(three_in_slots(), claim_of({0, 1, 1}, {Bytes(8), Bytes(6)}, Bytes(14))),
              ElementsAre(HasSubstr("buffer 1 and buffer 2 share bytes [1, 2) from time 4 on")));
  // A buffer without bytes overlaps nothing.
  PackingProblem problem = three_in_slots();
  problem.buffers[PackingId(1)].size = Bytes(0);
  EXPECT_THAT(found(problem, claim_of({0, 0, 1}, {Bytes(8), Bytes(6)}, Bytes(14))), IsEmpty());
}

TEST(SlotCheck, AcceptsABufferInTheGapOfAnother) {
  PackingProblem problem = three_in_slots();
  problem.buffers[PackingId(0)] = {.lifespan = {0, 9}, .gaps = {{2, 6}}, .size = Bytes(8)};
  EXPECT_THAT(found(problem, claim_of({0, 0, 1}, {Bytes(8), Bytes(6)}, Bytes(14))), IsEmpty());
  problem.buffers[PackingId(0)].gaps = {{2, 5}};
  EXPECT_EQ(found(problem, claim_of({0, 0, 1}, {Bytes(8), Bytes(6)}, Bytes(14))).size(), 1U);
}

TEST(SlotCheck, FindsSlotsThatAreTooSmallOrMissing) {
  EXPECT_THAT(found(three_in_slots(), claim_of({0, 1, 0}, {Bytes(7), Bytes(4)}, Bytes(11))),
              ElementsAre("buffer 0 has 8 bytes, but its slot 0 has 7"));
  EXPECT_THAT(found(three_in_slots(), claim_of({0, 1, 2}, {Bytes(8), Bytes(4)}, Bytes(12))),
              ElementsAre("buffer 2 is in slot 2, but the number of slots is 2"));
}

TEST(SlotCheck, ComparesTheTotalWithTheSum) {
  EXPECT_THAT(found(three_in_slots(), claim_of({0, 1, 0}, {Bytes(8), Bytes(4)}, Bytes(11))),
              ElementsAre("the slots have 12 bytes in total, but the claim states 11"));
}

TEST(SlotCheck, NeedsOneSlotPerBuffer) {
  EXPECT_THAT(found(three_in_slots(), claim_of({0, 1}, {Bytes(8), Bytes(4)}, Bytes(12))),
              ElementsAre("2 slots are named for 3 buffers"));
}

}  // namespace
}  // namespace lowtide
