// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>

#include "tests/verify/byte_oracle.h"
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

Diamond diamond_on_streams() {
  Graph graph = diamond();
  PlanMaker plan(graph);
  plan.put(TensorId(1), plan.buffer(BufferKind::temporary, 16, 0, 0, 3));
  plan.put(TensorId(2), plan.buffer(BufferKind::temporary, 16, 16, 1, 4));
  plan.put(TensorId(3), plan.buffer(BufferKind::temporary, 16, 32, 2, 5));
  plan.put(TensorId(4), plan.buffer(BufferKind::temporary, 16, 0, 3, 5));
  plan.put(TensorId(5), plan.buffer(BufferKind::output, 16, 16, 4, 5));
  plan.run_in_order();
  Plan done = plan.finish();
  done.execution = ExecutionModel::streams;
  done.program.streams.push_back({.worker = WorkerId(0)});
  done.program.steps[StepId(1)].stream = StreamId(1);
  done.program.steps[StepId(3)].stream = StreamId(1);
  done.program.steps[StepId(3)].after = {StepId(2)};
  done.program.steps[StepId(4)].after = {StepId(3)};
  return {std::move(graph), std::move(done)};
}

TEST(Races, StreamsThatWaitForEachOtherAreRight) {
  const Diamond right = diamond_on_streams();
  EXPECT_EQ(messages(verify(right.graph, right.plan)), "");
  EXPECT_EQ(fault_of_some_run(right.graph, right.plan), "");
}

TEST(Races, AWriterThatDoesNotWaitForAReaderIsRefused) {
  Diamond wrong = diamond_on_streams();
  wrong.plan.program.steps[StepId(3)].after = {StepId(0)};
  const std::vector<Violation> found = verify(wrong.graph, wrong.plan);
  ASSERT_EQ(kinds(found), "race");
  EXPECT_EQ(found[0].kind, ViolationKind::race);
  EXPECT_EQ(found[0].step, StepId(3));
  EXPECT_EQ(found[0].bytes, (Interval<std::int64_t>{0, 16}));
  EXPECT_THAT(messages(found),
              HasSubstr("may run at the same time: the first reads 'a' (tensor 1), the second writes 'd' (tensor "
                        "4) in bytes [0, 16) of region 0 'arena'"));
  EXPECT_NE(fault_of_some_run(wrong.graph, wrong.plan), "");
}

TEST(Races, AReaderThatDoesNotWaitForItsValueIsRefused) {
  Diamond wrong = diamond_on_streams();
  wrong.plan.program.steps[StepId(4)].after = {};
  EXPECT_THAT(messages(verify(wrong.graph, wrong.plan)),
              HasSubstr("reads 'd' (tensor 4), but does not wait for step 3 (node 3 '', 'Neg'), which writes it"));
}

// On a third stream, c no longer follows a in one stream. So it must wait for a, whose result it reads.
TEST(Races, AStepThatMovesToAnotherStreamNeedsWaitsThere) {
  Diamond moved = diamond_on_streams();
  moved.plan.program.streams.push_back({.worker = WorkerId(0)});
  moved.plan.program.steps[StepId(2)].stream = StreamId(2);
  EXPECT_THAT(kinds(verify(moved.graph, moved.plan)), HasSubstr("race"));
  moved.plan.program.steps[StepId(2)].after = {StepId(0)};  // c reads a
  EXPECT_EQ(messages(verify(moved.graph, moved.plan)), "");
}

TEST(Races, AWaitThatAnotherOneImpliesIsAllowed) {
  Diamond more = diamond_on_streams();
  more.plan.program.steps[StepId(3)].after = {StepId(0), StepId(2)};  // 0 is before 2 on its stream
  EXPECT_EQ(messages(verify(more.graph, more.plan)), "");
}

// Scratch holds no value. But two kernels that use the same scratch at once destroy each other's bytes.
TEST(Races, ScratchOfTwoStepsAtOnceIsRefused) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId a = maker.result("a", {16}, "Relu", {x});
  const TensorId b = maker.result("b", {16}, "Neg", {x});
  const Graph graph = maker.make({a, b});
  PlanMaker maker_of_plan(graph);
  maker_of_plan.put(a, maker_of_plan.buffer(BufferKind::output, 16, 0, 0, 2));
  maker_of_plan.put(b, maker_of_plan.buffer(BufferKind::output, 16, 16, 1, 2));
  maker_of_plan.compute(NodeId(0), maker_of_plan.buffer(BufferKind::scratch, 16, 32, 0, 1));
  maker_of_plan.compute(NodeId(1), maker_of_plan.buffer(BufferKind::scratch, 16, 32, 1, 2));
  Plan plan = maker_of_plan.finish();
  EXPECT_EQ(messages(verify(graph, plan)), "");
  plan.execution = ExecutionModel::streams;
  plan.program.streams.push_back({.worker = WorkerId(0)});
  plan.program.steps[StepId(1)].stream = StreamId(1);
  EXPECT_EQ(kinds(verify(graph, plan)), "race");
  EXPECT_NE(fault_of_some_run(graph, plan), "");
}

TEST(Races, StreamsAndWaitsOutOfRangeAreMalformed) {
  const auto refused = [](const auto& damage) {
    Diamond wrong = diamond_on_streams();
    damage(wrong.plan);
    const std::vector<Violation> found = verify(wrong.graph, wrong.plan);
    EXPECT_EQ(kinds(found), "malformed");
    return messages(found);
  };
  EXPECT_THAT(refused([](Plan& plan) { plan.program.steps[StepId(1)].stream = StreamId(2); }),
              HasSubstr("steps[1].stream: stream 2 does not exist; the number of streams is 2"));
  EXPECT_THAT(refused([](Plan& plan) { plan.program.steps[StepId(3)].after = {StepId(4)}; }),
              HasSubstr("steps[3].after[0]: step 4 does not come before step 3, which waits for it"));
  EXPECT_THAT(refused([](Plan& plan) { plan.program.steps[StepId(3)].after = {StepId(3)}; }),
              HasSubstr("not come before"));
  EXPECT_THAT(refused([](Plan& plan) { plan.program.steps[StepId(3)].after = {StepId(99)}; }),
              HasSubstr("not come before"));
  EXPECT_THAT(refused([](Plan& plan) { plan.program.steps[StepId(3)].after = {StepId(1)}; }),
              HasSubstr("steps[3].after[0]: step 1 is in the same stream, whose steps run in order anyway"));
  EXPECT_THAT(refused([](Plan& plan) {
                plan.program.steps[StepId(3)].after = {StepId(2), StepId(2)};
              }),
              HasSubstr("steps[3].after[1]: step 2 does not follow step 2; waits must be listed in ascending order"));
  Diamond none = diamond_on_streams();
  none.plan.program.streams = {};
  EXPECT_THAT(messages(verify(none.graph, none.plan)),
              HasSubstr("malformed: streams: the plan has 0 streams; it must have 1 to 1024 (kMaxStreams)\n"));
}

TEST(Races, StreamsAreOfOneWorkerOrOneLink) {
  const auto refused = [](const auto& damage) {
    Diamond wrong = diamond_on_streams();
    wrong.plan.machine.regions.push_back({.name = "host"});
    wrong.plan.layout.arena.emplace_back(0);
    const LinkId link = wrong.plan.machine.links.push_back({.from = RegionId(0), .to = RegionId(1)});
    const StreamId copies = wrong.plan.program.streams.push_back({.link = link});
    EXPECT_EQ(messages(verify(wrong.graph, wrong.plan)), "");  // a stream without steps does no harm
    damage(wrong.plan, wrong.plan.program.streams[copies]);
    return messages(verify(wrong.graph, wrong.plan));
  };
  EXPECT_EQ(refused([](Plan&, Stream& stream) { stream.worker = WorkerId(0); }),
            "malformed: streams[2]: has both a worker and a link; it needs exactly one of them\n");
  EXPECT_EQ(refused([](Plan&, Stream& stream) { stream.link.reset(); }),
            "malformed: streams[2]: has neither a worker nor a link; it needs exactly one of them\n");
  EXPECT_EQ(refused([](Plan&, Stream& stream) { stream.link = LinkId(1); }),
            "malformed: streams[2].link: link 1 does not exist; the number of links is 1\n");
  EXPECT_EQ(refused([](Plan&, Stream& stream) { stream = {.worker = WorkerId(1)}; }),
            "malformed: streams[2].worker: worker 1 does not exist; the number of workers is 1\n");
  EXPECT_EQ(refused([](Plan& plan, Stream&) { plan.program.streams.push_back({.link = LinkId(0)}); }),
            "malformed: streams[3].link: link 0 already drives an earlier stream; a link drives at most one\n");
  EXPECT_THAT(refused([](Plan& plan, Stream&) { plan.program.steps[StepId(4)].stream = StreamId(2); }),
              HasSubstr("unreachable: step 4 (node 4 '', 'Add') runs on link 0, which only copies"));
  EXPECT_THAT(refused([](Plan& plan, Stream& stream) {
                while (plan.program.streams.size() < 1025) plan.program.streams.push_back({.worker = WorkerId(0)});
                static_cast<void>(stream);
              }),
              HasSubstr("malformed: streams: the plan has 1025 streams; it must have 1 to 1024 (kMaxStreams)"));
}

// Assigns streams at random, and adds between none and all of the waits. Copies of a link stay on its stream.
void spread(Plan& plan, Random& random) {
  plan.execution = ExecutionModel::streams;
  std::vector<StreamId> workers;
  while (plan.program.streams.size() < 3) plan.program.streams.push_back({.worker = WorkerId(0)});
  for (StreamId id : all_ids<StreamId>(plan.program.streams.size())) {
    if (plan.program.streams[id].worker) workers.push_back(id);
  }
  const int density = static_cast<int>(random.between(30, 110));
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    Step& step = plan.program.steps[id];
    if (plan.program.streams[step.stream].worker) step.stream = workers[random.below(workers.size())];
    step.after.clear();
    for (StepId before : all_ids<StepId>(id.index())) {
      if (plan.program.steps[before].stream != step.stream && random.chance(density)) step.after.push_back(before);
    }
  }
}

// A plan is accepted if and only if none of its runs goes wrong. Every run is tried.
TEST(Races, AreReportedExactlyIfSomeRunGoesWrong) {
  int right = 0, wrong = 0, with_copies = 0, wrong_with_copies = 0;
  for (std::uint64_t seed = 0; right + wrong < 6'000; ++seed) {
    Random random(seed);
    const auto graph = random_graph(random);
    if (graph->nodes().size() < 2 || graph->nodes().size() > 7) continue;
    Plan plan = random_plan(*graph, random);
    if (plan.program.steps.size() > 9) continue;
    spread(plan, random);
    const std::vector<Violation> found = verify(*graph, plan);
    const std::string fault = fault_of_some_run(*graph, plan);
    ASSERT_EQ(found.empty(), fault.empty()) << "seed " << seed << ": " << fault << "\n" << messages(found);
    ASSERT_EQ(found.empty(), rule_faults(*graph, plan).empty()) << "seed " << seed << ": " << fault;
    for (const Violation& violation : found) ASSERT_EQ(violation.kind, ViolationKind::race) << "seed " << seed;
    ++(found.empty() ? right : wrong);
    with_copies += copies(plan.program) ? 1 : 0;
    wrong_with_copies += copies(plan.program) && !found.empty() ? 1 : 0;
  }
  std::printf("%d right, %d wrong; %d of them with copies, of which %d wrong\n", right, wrong, with_copies,
              wrong_with_copies);
  EXPECT_GT(right, 1'000);
  EXPECT_GT(wrong, 1'000);
  EXPECT_GT(with_copies - wrong_with_copies, 250);
  EXPECT_GT(wrong_with_copies, 250);
}

}  // namespace
}  // namespace lowtide::testing
