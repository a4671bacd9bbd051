// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>

#include "tests/verify/interleavings.h"
#include "tests/verify/random_graphs.h"
#include "tests/verify/random_plans.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

//   x -> a = Relu -> c = Neg ---.
//    `-> b = Sigmoid -> d = Neg -+-> y = Add          a at 0, b at 16, c at 32, d at 0 (a is dead), y at 16
//
//   stream 0   | a |     | c |     | y |
//   stream 1       | b |     | d |           d writes where c reads, so it waits for c; y reads d, writes over b
struct Diamond {
  Graph graph;
  Plan plan;
};

Diamond diamond() {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  std::vector<TensorId> made;
  for (const char* name : {"a", "b", "c", "d", "y"}) made.push_back(maker.tensor(name, {16}));
  maker.node("Relu", {x}, {made[0]});
  maker.node("Sigmoid", {x}, {made[1]});
  maker.node("Neg", {made[0]}, {made[2]});
  maker.node("Neg", {made[1]}, {made[3]});
  maker.node("Add", {made[2], made[3]}, {made[4]});
  Graph graph = maker.make({made[4]});
  PlanMaker plan(graph);
  plan.put(made[0], plan.buffer(BufferKind::temporary, 16, 0, 0, 3));
  plan.put(made[1], plan.buffer(BufferKind::temporary, 16, 16, 1, 4));
  plan.put(made[2], plan.buffer(BufferKind::temporary, 16, 32, 2, 5));
  plan.put(made[3], plan.buffer(BufferKind::temporary, 16, 0, 3, 5));
  plan.put(made[4], plan.buffer(BufferKind::output, 16, 16, 4, 5));
  for (std::uint32_t node = 0; node < 5; ++node) plan.compute(NodeId(node));
  Plan done = plan.finish();
  done.streams = 2;
  done.program[StepId(1)].stream = 1;
  done.program[StepId(3)].stream = 1;
  done.program[StepId(3)].after = {StepId(2)};
  done.program[StepId(4)].after = {StepId(3)};
  return {std::move(graph), std::move(done)};
}

TEST(Races, StreamsThatWaitForEachOtherAreRight) {
  const Diamond right = diamond();
  EXPECT_EQ(messages(verify(right.graph, right.plan)), "");
  EXPECT_EQ(fault_of_some_run(right.graph, right.plan), "");
}

TEST(Races, AWriterThatDoesNotWaitForAReaderIsRefused) {
  Diamond wrong = diamond();
  wrong.plan.program[StepId(3)].after = {StepId(0)};
  const std::vector<Violation> found = verify(wrong.graph, wrong.plan);
  ASSERT_EQ(kinds(found), "race");
  EXPECT_EQ(found[0].kind, ViolationKind::race);
  EXPECT_EQ(found[0].step, StepId(3));
  EXPECT_EQ(found[0].bytes, (Interval<std::int64_t>{0, 16}));
  EXPECT_THAT(messages(found), HasSubstr("may run at once: the one reads 'a' (tensor 1), the other writes 'd' (tensor "
                                         "4) in bytes [0, 16) of region 0 'arena'"));
  EXPECT_NE(fault_of_some_run(wrong.graph, wrong.plan), "");
}

TEST(Races, AReaderThatDoesNotWaitForItsValueIsRefused) {
  Diamond wrong = diamond();
  wrong.plan.program[StepId(4)].after = {};
  EXPECT_THAT(messages(verify(wrong.graph, wrong.plan)),
              HasSubstr("reads 'd' (tensor 4), but does not wait for step 3 (node 3 '', 'Neg'), which writes it"));
}

// c happens before d, which happens before y, on any two streams; moved beside its reader, it races with d.
TEST(Races, AStepThatMovesToAnotherStreamNeedsWaitsThere) {
  Diamond moved = diamond();
  moved.plan.streams = 3;
  moved.plan.program[StepId(2)].stream = 2;
  EXPECT_THAT(kinds(verify(moved.graph, moved.plan)), HasSubstr("race"));
  moved.plan.program[StepId(2)].after = {StepId(0)};  // c reads a
  EXPECT_EQ(messages(verify(moved.graph, moved.plan)), "");
}

TEST(Races, AWaitThatAnotherOneImpliesMayGo) {
  Diamond more = diamond();
  more.plan.program[StepId(3)].after = {StepId(0), StepId(2)};  // 0 is before 2 on its stream
  EXPECT_EQ(messages(verify(more.graph, more.plan)), "");
}

// Scratch is nobody's value; two kernels that use it at once spoil each other all the same.
TEST(Races, ScratchOfTwoStepsAtOnceIsRefused) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId a = maker.tensor("a", {16});
  const TensorId b = maker.tensor("b", {16});
  maker.node("Relu", {x}, {a});
  maker.node("Neg", {x}, {b});
  const Graph graph = maker.make({a, b});
  PlanMaker maker_of_plan(graph);
  maker_of_plan.put(a, maker_of_plan.buffer(BufferKind::output, 16, 0, 0, 2));
  maker_of_plan.put(b, maker_of_plan.buffer(BufferKind::output, 16, 16, 1, 2));
  maker_of_plan.compute(NodeId(0), maker_of_plan.buffer(BufferKind::scratch, 16, 32, 0, 1));
  maker_of_plan.compute(NodeId(1), maker_of_plan.buffer(BufferKind::scratch, 16, 32, 1, 2));
  Plan plan = maker_of_plan.finish();
  EXPECT_EQ(messages(verify(graph, plan)), "");
  plan.streams = 2;
  plan.program[StepId(1)].stream = 1;
  EXPECT_EQ(kinds(verify(graph, plan)), "race");
  EXPECT_NE(fault_of_some_run(graph, plan), "");
}

TEST(Races, StreamsAndWaitsOutOfRangeAreMalformed) {
  const auto refused = [](const auto& damage) {
    Diamond wrong = diamond();
    damage(wrong.plan);
    const std::vector<Violation> found = verify(wrong.graph, wrong.plan);
    EXPECT_EQ(kinds(found), "malformed");
    return messages(found);
  };
  EXPECT_THAT(refused([](Plan& plan) { plan.program[StepId(1)].stream = 2; }),
              HasSubstr("step 1 names stream 2, but there are only 2"));
  EXPECT_THAT(refused([](Plan& plan) { plan.program[StepId(3)].after = {StepId(4)}; }),
              HasSubstr("step 3 waits for step 4, which does not come before it"));
  EXPECT_THAT(refused([](Plan& plan) { plan.program[StepId(3)].after = {StepId(3)}; }), HasSubstr("not come before"));
  EXPECT_THAT(refused([](Plan& plan) { plan.program[StepId(3)].after = {StepId(99)}; }), HasSubstr("not come before"));
  EXPECT_THAT(refused([](Plan& plan) { plan.program[StepId(3)].after = {StepId(1)}; }),
              HasSubstr("step 3 waits for step 1 of its own stream"));
  EXPECT_THAT(refused([](Plan& plan) {
                plan.program[StepId(3)].after = {StepId(2), StepId(2)};
              }),
              HasSubstr("listed in order, each once"));
  EXPECT_THAT(refused([](Plan& plan) { plan.streams = 0; }), HasSubstr("0 streams; there are 1 to 1024"));
  EXPECT_THAT(refused([](Plan& plan) { plan.streams = 1025; }), HasSubstr("1025 streams; there are 1 to 1024"));
}

// Streams at random, and waits from none to all.
void spread(Plan& plan, Random& random) {
  plan.streams = static_cast<std::uint32_t>(random.between(2, 3));
  const int density = static_cast<int>(random.between(30, 110));
  for (StepId id : all_ids<StepId>(plan.program.size())) {
    Step& step = plan.program[id];
    step.stream = static_cast<std::uint32_t>(random.below(plan.streams));
    for (StepId before : all_ids<StepId>(id.index())) {
      if (plan.program[before].stream != step.stream && random.chance(density)) step.after.push_back(before);
    }
  }
}

// Exactly the plans are accepted of which no run goes wrong, every run of them looked at.
TEST(Races, AreFoundExactlyWhereSomeRunGoesWrong) {
  int right = 0;
  int wrong = 0;
  for (std::uint64_t seed = 0; right + wrong < 6'000; ++seed) {
    Random random(seed);
    const auto graph = random_graph(random);
    if (graph->nodes().size() < 2 || graph->nodes().size() > 7) continue;
    Plan plan = random_plan(*graph, random);
    spread(plan, random);
    const std::vector<Violation> found = verify(*graph, plan);
    const std::string fault = fault_of_some_run(*graph, plan);
    ASSERT_EQ(found.empty(), fault.empty()) << "seed " << seed << ": " << fault << "\n" << messages(found);
    for (const Violation& violation : found) ASSERT_EQ(violation.kind, ViolationKind::race) << "seed " << seed;
    ++(found.empty() ? right : wrong);
  }
  std::printf("%d right, %d wrong\n", right, wrong);
  EXPECT_GT(right, 1'000);
  EXPECT_GT(wrong, 1'000);
}

}  // namespace
}  // namespace lowtide::testing
