// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan.h"

#include <gmock/gmock.h>

#include "tests/plan/small_plan.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The small plan, with the plan of its first body changed by `edit`.
template <typename Edit>
Plan with_body(Edit edit) {
  Plan plan = small_plan_file().plan;
  BodyPlan& then = plan.layout.steps[StepId(2)].bodies[0];
  Plan inner = *then.plan;
  edit(inner);
  then.plan = std::make_shared<const Plan>(inner);
  return plan;
}

void run_first_step_again(Plan& plan) {
  plan.program.steps.push_back(Step(plan.program.steps[StepId(0)]));
  plan.layout.steps.push_back({});
}

TEST(Scope, OneStepPerNodeGivesTheSmallerScope) {
  const Plan plan = small_plan_file().plan;
  EXPECT_FALSE(recomputes(plan.program));
  EXPECT_EQ(scope_of(plan), BoundScope::chosen_kernels);
}

// It says nothing about plans with other kernels.
TEST(Scope, ABoundForTheChosenKernelsHoldsForThePlan) {
  Plan plan = small_plan_file().plan;
  plan.claims.bounds = {{BoundScope::chosen_kernels, Bytes(128), "live_set"},
                        {BoundScope::run_once, Bytes(96), "search"}};
  EXPECT_EQ(bound_of(plan).bytes, Bytes(128));
  EXPECT_EQ(best_bound(plan.claims, BoundScope::run_once)->bytes, Bytes(96));
  EXPECT_EQ(best_bound(plan.claims, BoundScope::all_plans), nullptr);
}

TEST(Scope, CopiesBetweenRegionsGiveTheLargerScope) {
  Plan plan = transfer_plan_file().plan;
  EXPECT_EQ(scope_of(plan), BoundScope::all_plans);
  const auto is_second_neg = [](const Step& step) { return node_of(step) == NodeId(1); };
  ASSERT_EQ(std::count_if(plan.program.steps.begin(), plan.program.steps.end(), is_second_neg), 2);
  plan.program.steps[StepId(6)].work = Copy{{0, 32}};
  EXPECT_FALSE(recomputes(plan.program));
  EXPECT_EQ(scope_of(plan), BoundScope::all_plans);
}

// The caller gets a copy, so the value itself may be in other bytes until it is copied.
TEST(Scope, CopiesThatTheCallerGetsGiveTheLargerScope) {
  Plan plan = small_plan_file().plan;
  const ValueId output = plan.program.outputs[0];
  const ValueId copied(static_cast<std::uint32_t>(plan.program.values.size()));
  plan.program.values.push_back(Value(plan.program.values[output]));
  plan.layout.values.push_back(ValuePlace(plan.layout.values[output]));
  plan.program.steps.push_back({.work = Copy{{0, 32}}, .reads = {output}, .writes = {copied}});
  plan.layout.steps.push_back({});
  EXPECT_EQ(scope_of(plan), BoundScope::chosen_kernels) << "nothing reads the copy";
  plan.program.outputs[0] = copied;
  EXPECT_EQ(scope_of(plan), BoundScope::all_plans);
  plan.program.outputs[0] = output;
  plan.program.updates = {copied};
  EXPECT_EQ(scope_of(plan), BoundScope::chosen_kernels);
}

TEST(Scope, AliasesOfOneNodeCountAsRecomputation) {
  Plan plan = small_plan_file().plan;
  plan.program.steps[StepId(2)].work = Alias{NodeId(1)};
  plan.layout.steps[StepId(2)].bodies.clear();
  EXPECT_TRUE(recomputes(plan.program));
  EXPECT_EQ(scope_of(plan), BoundScope::all_plans);
  EXPECT_THAT(features_of(plan), ElementsAre("recompute"));
}

TEST(Scope, IncludesBodies) {
  const Plan plan = with_body(run_first_step_again);
  EXPECT_FALSE(recomputes(plan.program));
  EXPECT_EQ(scope_of(plan), BoundScope::all_plans);
  EXPECT_EQ(bound_of(plan).name, "none") << "the claim is for plans that run each node once";
  EXPECT_EQ(scope_of(with_body([](Plan&) {})), BoundScope::chosen_kernels);
}

TEST(Features, IncludeThoseOfAllPlans) {
  const Plan plan = with_body(run_first_step_again);
  EXPECT_THAT(features_of(plan), IsEmpty());
  EXPECT_EQ(all_plans_in(plan).size(), 3U);
  EXPECT_THAT(features_of(all_plans_in(plan)), ElementsAre("recompute"));
}

TEST(KernelNames, AreThoseOfAllPlansEachOnceAndSorted) {
  const Plan plan = with_body([](Plan& body) {
    for (PlannedKernel& kernel : body.kernels) kernel.name = "a";
    body.kernels.push_back({"z"});
  });
  ASSERT_EQ(plan.kernels.size(), 1U);
  ASSERT_EQ(plan.kernels[KernelId(0)].name, "dense");
  EXPECT_THAT(kernel_names(plan), ElementsAre("a", "dense", "z"));
}

TEST(BufferKinds, FollowTheRoles) {
  for (Role role : {Role::input, Role::output, Role::constant, Role::state, Role::temporary}) {
    EXPECT_EQ(to_string(buffer_kind_of(role)), to_string(role));
  }
}

}  // namespace
}  // namespace lowtide::testing
