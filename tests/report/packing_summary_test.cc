// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/packing_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace lowtide {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two buffers of 64 bytes are both live from time 2 on.
PackingProblem two_buffers() {
  PackingProblem problem;
  problem.buffers.push_back({.lifespan = {0, 4}, .size = Bytes(64)});
  problem.buffers.push_back({.lifespan = {2, 6}, .size = Bytes(64)});
  problem.capacity = Bytes(100);
  return problem;
}

Packing too_high() {
  return {.outcome = PackingOutcome::infeasible,
          .height = Bytes(128),
          .bound = Bytes(128),
          .proven_optimal = true,
          .strategy = "best_fit",
          .witness_time = 2};
}

PackingWitness witness_of(std::vector<PackingId> live, std::int64_t load) {
  return {.time = 2, .load = Bytes(load), .proven = Bytes(load), .live = std::move(live), .alone = std::nullopt};
}

std::string packing_text(const PackingProblem& problem, const Packing& packing,
                         const std::optional<PackingWitness>& witness = std::nullopt) {
  return packing_summary("b.csv", problem, figures_of(problem, packing, witness)).render(false);
}

// Two slots of 64 bytes.
std::string slots_summary(const PackingProblem& problem, bool is_optimal) {
  const PackingFigures figures{
      .what = "slots", .size = Bytes(128), .bound = Bytes(96), .strategy = "tightest", .proven_optimal = is_optimal};
  return packing_summary("b.csv", problem, slot_figures(problem, figures, {Bytes(64), Bytes(64)})).render(false);
}

TEST(PackingSummary, SaysWhenTheLoadExceedsTheCapacity) {
  const std::string text = packing_text(two_buffers(), too_high());
  EXPECT_THAT(text, HasSubstr("Does not fit the capacity of 100 B: at least 28 B too large."));
  EXPECT_THAT(text, HasSubstr("the buffers live at time 2 alone exceed the capacity"));
}

TEST(PackingSummary, ListsTheBuffersLiveAtThatTime) {
  PackingProblem problem = two_buffers();
  problem.names.push_back("a");
  problem.names.push_back("b");
  const PackingWitness witness = witness_of({PackingId(0), PackingId(1)}, 128);
  const std::string text = packing_text(problem, too_high(), witness);
  EXPECT_THAT(text, HasSubstr("At time 2: 128 B in 2 buffers\n"));
  EXPECT_THAT(text, HasSubstr("64 B  50.0 %  a       [0,4)\n"));
  EXPECT_THAT(text, HasSubstr("64 B  50.0 %  b       [2,6)\n"));
  EXPECT_THAT(text, Not(HasSubstr("more")));
}

TEST(PackingSummary, ListsTenAndSumsUpTheRest) {
  PackingProblem problem;
  std::vector<PackingId> live;
  for (int at = 0; at < 13; ++at) {
    live.push_back(problem.buffers.push_back({.lifespan = {2, 3}, .size = Bytes(10)}));
  }
  problem.capacity = Bytes(129);
  Packing packing = too_high();
  packing.height = packing.bound = Bytes(130);
  const std::string text = packing_text(problem, packing, witness_of(live, 130));
  EXPECT_THAT(text, HasSubstr("30 B  23.1 %  and 3 more"));  // 3 x 10 of 130
  EXPECT_THAT(text, HasSubstr("  9  "));
  EXPECT_THAT(text, Not(HasSubstr("  10  ")));
}

TEST(PackingSummary, NamesPaddingAlignmentAndGaps) {
  PackingProblem problem = two_buffers();
  for (PackingBuffer& buffer : problem.buffers) buffer.alignment = Bytes(4096);
  problem.buffers[PackingId(0)].gaps = {{3, 4}};
  PackingWitness witness = witness_of({PackingId(0), PackingId(1)}, 128);
  witness.proven = Bytes(4160);  // 4,096 + 64
  const std::string text = packing_text(problem, too_high(), witness);
  EXPECT_THAT(text, HasSubstr("128 B in 2 buffers, 4,160 B (4.06 KiB) with the padding that alignment forces"));
  EXPECT_THAT(text, HasSubstr("[0,4), 1 gap  alignment 4,096"));
}

TEST(PackingSummary, NamesTheFixedBufferThatDoesNotFit) {
  PackingProblem problem = two_buffers();
  problem.buffers[PackingId(1)].fixed_offset = Offset(1000);
  PackingWitness witness = witness_of({PackingId(0), PackingId(1)}, 128);
  witness.proven = Bytes(1064);
  witness.alone = PackingId(1);
  const std::string text = packing_text(problem, too_high(), witness);
  EXPECT_THAT(text, HasSubstr("Proven: no offsets fit; 1 is fixed at 1,000 and ends at 1,064."));
  EXPECT_THAT(text, Not(HasSubstr("padding")));
}

TEST(PackingSummary, SaysThatASearchHasTriedEverything) {
  Packing packing = too_high();
  packing.is_bound_searched = true;
  packing.decisions = 1234;
  const PackingWitness witness = witness_of({PackingId(0), PackingId(1)}, 128);
  const std::string text = packing_text(two_buffers(), packing, witness);
  EXPECT_THAT(text, HasSubstr("a search with 1,234 decisions tried all possibilities."));
  EXPECT_THAT(text, Not(HasSubstr("At time")));
}

TEST(PackingSummary, OmitsTheWitnessIfThePackingFits) {
  PackingProblem problem = two_buffers();
  problem.capacity = Bytes(128);
  Packing packing = too_high();
  packing.outcome = PackingOutcome::found;
  const PackingWitness witness = witness_of({PackingId(0), PackingId(1)}, 128);
  const std::string text = packing_text(problem, packing, witness);
  EXPECT_THAT(text, HasSubstr("Fits the capacity of 128 B."));
  EXPECT_THAT(text, Not(HasSubstr("At time")));
}

TEST(PackingSummary, NamesCannotActOnATerminal) {
  PackingProblem problem = two_buffers();
  problem.names.push_back("\x1b[31m\n");
  problem.names.push_back("\xff");
  const PackingWitness witness = witness_of({PackingId(0), PackingId(1)}, 128);
  const std::string text = packing_text(problem, too_high(), witness);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("'\\x1b[31m\\x0a'"));
}

TEST(SlotsSummary, CountsSlotsAndSaysWhatIsProven) {
  PackingProblem problem = two_buffers();
  problem.capacity.reset();
  const std::string text = slots_summary(problem, false);
  EXPECT_THAT(text, HasSubstr("gap 33.3 %"));  // 32 above 96
  EXPECT_THAT(text, HasSubstr("of 2 slots"));
  EXPECT_THAT(text, Not(HasSubstr("fit")));

  problem.capacity = Bytes(100);
  EXPECT_THAT(slots_summary(problem, false), HasSubstr("Not proven: the best slots found do not fit"));
  EXPECT_THAT(slots_summary(problem, true),
              HasSubstr("28 B too large.\n  Proven: all ways of sharing slots were tried."));
  problem.capacity = Bytes(95);
  EXPECT_THAT(slots_summary(problem, true), HasSubstr("at least 1 B too large.\n  Proven: no slots fit"));
}

TEST(NameOf, IsTheIdOrTheNumber) {
  PackingProblem problem = two_buffers();
  EXPECT_EQ(name_of(problem, PackingId(1)), "1");
  problem.names.push_back("a");
  problem.names.push_back("b");
  EXPECT_EQ(name_of(problem, PackingId(1)), "b");
}

}  // namespace
}  // namespace lowtide
