// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_purpose.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "lowtide/pipeline/budget_request.h"

namespace lowtide {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BudgetRequest, LimitsAPlanOnlyIfItsBytesAreKnown) {
  EXPECT_EQ(BudgetRequest().limit(), std::nullopt);
  EXPECT_EQ(BudgetRequest::of(std::nullopt), BudgetRequest());
  EXPECT_EQ(BudgetRequest::of(Bytes(64)).limit(), Bytes(64));
  EXPECT_EQ((BudgetRequest{.kind = BudgetRequest::Kind::automatic, .most = Bytes(64)}.limit()), std::nullopt);
  EXPECT_EQ((BudgetRequest{.kind = BudgetRequest::Kind::curve}.limit()), std::nullopt);
}

TEST(BudgetRequest, NeedsACurveUnlessItIsASizeOrNothing) {
  EXPECT_FALSE(BudgetRequest().needs_curve());
  EXPECT_FALSE(BudgetRequest::of(Bytes(64)).needs_curve());
  EXPECT_TRUE(BudgetRequest{.kind = BudgetRequest::Kind::automatic}.needs_curve());
  EXPECT_TRUE(BudgetRequest{.kind = BudgetRequest::Kind::curve}.needs_curve());
}

PlanOptions answer() {
  PlanOptions options{.order = "dfs", .budget = Bytes(4096), .views = false};
  options.streams = 2;
  options.bound_check_effort = 7;
  return options;
}

TEST(OptionsFor, TheAnswerAndAPointOfACurveAreThoseOfTheRequest) {
  for (const PlanPurpose purpose : {PlanPurpose::answer, PlanPurpose::curve_point}) {
    const PlanOptions made = options_for(purpose, answer());
    EXPECT_EQ(made.budget, Bytes(4096));
    EXPECT_EQ(made.order, "dfs");
    EXPECT_EQ(made.order_effort, PlanOptions().order_effort);
    EXPECT_EQ(made.bound_check_effort, 7);
    EXPECT_EQ(made.streams, 2);
  }
}

TEST(OptionsFor, APointOfACurveSpendsAPartOfTheEfforts) {
  const PlanOptions made = options_for(PlanPurpose::curve_point, answer());
  EXPECT_EQ(made.recompute_effort, PlanOptions().recompute_effort / 4);
  EXPECT_EQ(made.allocate_effort, PlanOptions().allocate_effort / 4);
  EXPECT_EQ(made.proof_effort, PlanOptions().recompute_effort / 10);
}

TEST(OptionsFor, AGraphIsChosenByTheBudgetAlone) {
  const PlanOptions quick = options_for(PlanPurpose::graph, answer());
  EXPECT_EQ(quick.budget, Bytes(4096));
  EXPECT_EQ(quick.order, "auto");
  EXPECT_TRUE(quick.views);
  EXPECT_EQ(quick.streams, 1);
  EXPECT_EQ(quick.order_effort, kQuickOrderEffort);
  EXPECT_THAT(quick.skip, Contains(PlanStage::recompute));
  EXPECT_THAT(options_for(PlanPurpose::graph_with_reruns, answer()).skip, Not(Contains(PlanStage::recompute)));
}

TEST(OptionsFor, ReportsHaveNoBudgetAndOneStream) {
  for (const PlanPurpose purpose : {PlanPurpose::integers, PlanPurpose::as_written}) {
    PlanOptions cheap = answer();
    cheap.order_effort = 5;  // below the limit, so it stays
    const PlanOptions made = options_for(purpose, cheap);
    EXPECT_EQ(made.budget, std::nullopt);
    EXPECT_EQ(made.order, "dfs");
    EXPECT_FALSE(made.views);
    EXPECT_EQ(made.streams, 1);
    EXPECT_EQ(made.order_effort, 5);
    EXPECT_EQ(made.allocate_effort, kQuickAllocateEffort);
  }
}

TEST(OptionsFor, ACurveBeginsWithoutALimit) {
  EXPECT_EQ(options_for(PlanPurpose::curve_start, answer()).budget, std::nullopt);
  const PlanOptions other = options_for(PlanPurpose::curve_graph, answer());
  EXPECT_EQ(other.budget, std::nullopt);
  EXPECT_EQ(other.order_effort, kQuickOrderEffort);
}

TEST(PlansOfRequest, AreTheRowsOfTheDocument) {
  const std::filesystem::path page =
      std::filesystem::path(LOWTIDE_TEST_FILES) / "../../docs/algorithms/rematerialization.md";
  std::stringstream text;
  text << std::ifstream(page).rdbuf();
  std::string rows;
  for (std::size_t at = 0; at < kPlansOfRequest.size(); ++at) {
    const PlanOfRequest& plan = kPlansOfRequest[at];
    EXPECT_EQ(static_cast<std::size_t>(plan.purpose), at);
    rows += "| `" + std::string(to_string(plan.purpose)) + "` | " + std::string(plan.when) + " | " +
            std::string(plan.most) + " | " + std::string(plan.decides) + " |\n";
  }
  EXPECT_THAT(text.str(), HasSubstr("|---|---|---|---|\n" + rows + "\n"));
}

}  // namespace
}  // namespace lowtide
