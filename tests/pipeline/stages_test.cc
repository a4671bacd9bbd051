// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/stages/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "lowtide/pipeline/plan_graph.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Two branches whose first results are large. As given, both are live at the same time: 4 x (100 + 100 + 1) bytes.
constexpr const char* kNamedBranches = R"(graph "g" {
  input x : f32[1]
  a = Conv(x) "first" : f32[100]
  b = Conv(x) "second" : f32[100]
  c = Conv(a) "third" : f32[1]
  d = Conv(b) "fourth" : f32[1]
  e = Conv(c, d) "last" : f32[1]
  output e
})";

std::vector<PlanStage> stages_begun(PlanOptions options) {
  std::vector<PlanStage> begun;
  options.on_stage = [&](PlanStage stage) { begun.push_back(stage); };
  EXPECT_TRUE(plan_graph(graph_of(kNamedBranches), dense_target(), options).ok());
  return begun;
}

TEST(Stages, BeginInOrder) {
  EXPECT_THAT(stages_begun({.streams = 2}),
              ElementsAre(PlanStage::bodies, PlanStage::kernels, PlanStage::order, PlanStage::search, PlanStage::bound,
                          PlanStage::allocate, PlanStage::refine, PlanStage::check_bound, PlanStage::exchange,
                          PlanStage::parallelize, PlanStage::verify));
}

TEST(Stages, EachOptionalStageCanBeSkipped) {
  for (const std::string& name : optional_plan_stages()) {
    const PlanStage stage = *from_string<PlanStage>(name);
    EXPECT_THAT(stages_begun({.streams = 2, .skip = {stage}}), Not(::testing::Contains(stage))) << name;
    const Result<PlannedGraph> planned =
        plan_graph(graph_of(kNamedBranches), dense_target(), {.streams = 2, .skip = {stage}});
    ASSERT_TRUE(planned.ok());
    EXPECT_THAT(verify(graph_of(kNamedBranches), planned->plan), IsEmpty()) << name;
    EXPECT_EQ(planned->is_verified, stage != PlanStage::verify) << name;
  }
}

TEST(Stages, ARequiredStageCannotBeSkipped) {
  const Result<PlannedGraph> planned =
      plan_graph(graph_of(kNamedBranches), dense_target(), {.skip = {PlanStage::kernels}});
  ASSERT_FALSE(planned.ok());
  EXPECT_EQ(planned.error().code, ErrorCode::invalid);
  EXPECT_EQ(
      planned.error().message,
      "stage 'kernels' cannot be skipped, because every plan needs it; these can be: search, refine, check_bound, "
      "exchange, recompute, parallelize and verify");
}

TEST(Stages, TheOrderSearchNeedsItsStage) {
  const Result<PlannedGraph> planned =
      plan_graph(graph_of(kNamedBranches), dense_target(), {.order = "search", .skip = {PlanStage::search}});
  ASSERT_FALSE(planned.ok());
  EXPECT_THAT(planned.error().message, HasSubstr("needs the stage 'search'"));
}

// No heuristic proves its order, so a search follows unless its effort is 0.
TEST(Stages, AnEffortOfZeroMeansNoSearch) {
  const auto plan = [](const PlanOptions& options) {
    return plan_graph(graph_of(kNamedBranches), dense_target(), options).value();
  };
  EXPECT_GT(plan({}).searched_sets, 0);
  const PlannedGraph unsearched = plan({.order_effort = 0});
  EXPECT_EQ(unsearched.searched_sets, 0);
  EXPECT_FALSE(unsearched.is_search_complete);
}

TEST(Stages, AStopLeavesAVerifiedPlan) {
  const std::atomic<bool> stop = true;
  EXPECT_THAT(stages_begun({.streams = 2, .stop = &stop}),
              ElementsAre(PlanStage::bodies, PlanStage::kernels, PlanStage::order, PlanStage::bound,
                          PlanStage::allocate, PlanStage::verify));
}

std::string dump_after(PlanStage stage, PlanOptions options = {}) {
  std::string dumped;
  options.dump_after = {stage};
  options.on_dump = [&](const std::string& text) { dumped += text; };
  EXPECT_TRUE(plan_graph(graph_of(kNamedBranches), dense_target(), options).ok());
  return dumped;
}

TEST(Stages, ADumpShowsWhatAStageDecided) {
  EXPECT_THAT(
      dump_after(PlanStage::kernels),
      HasSubstr("# after stage kernels of graph 'g'\nnode 0 'first' (Conv): kernel 'dense', scratch 0 bytes\n"));
  EXPECT_THAT(dump_after(PlanStage::order, {.order = "as_given"}),
              AllOf(HasSubstr("chosen as_given: "), HasSubstr("step 1: node 1 'second' (Conv)\n")));
  EXPECT_THAT(dump_after(PlanStage::allocate), AllOf(HasSubstr("region 'arena': arena of "), HasSubstr(" at 0\n")));
  EXPECT_THAT(dump_after(PlanStage::parallelize, {.streams = 2}),
              AllOf(HasSubstr("streams on 2 streams: "), HasSubstr("step 0: stream 0, node 0 'first' (Conv)\n")));
}

TEST(Stages, ADumpOfAStageWithoutEffectIsShort) {
  EXPECT_EQ(dump_after(PlanStage::search, {.order = "as_given"}), "# after stage search of graph 'g'\nunchanged\n");
}

TEST(Stages, DumpsAreDeterministic) {
  for (const std::string& name : plan_stages()) {
    const PlanStage stage = *from_string<PlanStage>(name);
    EXPECT_EQ(dump_after(stage, {.streams = 2}), dump_after(stage, {.streams = 2})) << name;
  }
}

TEST(Stages, TimesNameTheStagesThatRan) {
  const PlannedGraph planned =
      plan_graph(graph_of(kNamedBranches), dense_target(), {.skip = {PlanStage::search}}).value();
  EXPECT_THAT(planned.times, ::testing::Contains(::testing::Field(&StageTime::stage, PlanStage::order)));
  EXPECT_THAT(planned.times, Not(::testing::Contains(::testing::Field(&StageTime::stage, PlanStage::search))));
}

// A plan that claims a load that it does not have. The finished plan is correct, so only the check between stages sees
// it.
TEST(Stages, VerifyEachNamesTheStageOfAViolation) {
  const Graph graph = graph_of(kNamedBranches);
  const PlanOptions options{.verify_each = true};
  PlannedGraph planned = plan_graph(graph, dense_target(), options).value();
  EXPECT_THAT(planned.violations, IsEmpty());
  Plan wrong = planned.plan;
  wrong.claims.load += Bytes(1);
  pipeline_internal::Stages stages(options);
  const Target target = dense_target();
  const pipeline_internal::Task task = pipeline_internal::model_task(graph, target, options);
  stages.verify_after(PlanStage::allocate, task, [&] { return wrong; });
  planned = stages.finish(task, std::move(planned));
  ASSERT_THAT(planned.violations, Not(IsEmpty()));
  EXPECT_THAT(planned.violations[0].message, ::testing::StartsWith("after stage allocate: "));
}

}  // namespace
}  // namespace lowtide::testing
