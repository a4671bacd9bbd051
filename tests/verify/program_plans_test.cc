// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "lowtide/plan/plan_json.h"
#include "tests/verify/byte_oracle.h"
#include "tests/verify/program_plans.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

constexpr int kEach = 1'000;

TEST(ProgramPlans, AreRight) {
  for (MakePlan make : program_plans()) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Random random(seed);
      const Mutant right = make(random);
      ASSERT_EQ(messages(verify(*right.graph, right.plan)), "") << "seed " << seed;
      ASSERT_TRUE(byte_faults(*right.graph, right.plan).empty()) << byte_faults(*right.graph, right.plan)[0];
      ASSERT_TRUE(rule_faults(*right.graph, right.plan).empty()) << rule_faults(*right.graph, right.plan)[0];
    }
  }
}

TEST(ProgramPlans, SurviveARoundTripThroughAFile) {
  for (MakePlan make : program_plans()) {
    Random random(7);
    const Mutant right = make(random);
    const std::string text = write_plan_json(right.plan, labels_of(*right.graph));
    const Result<PlanFile> read = read_plan_json(text, "plan.json");
    ASSERT_TRUE(read.ok()) << read.error().describe();
    EXPECT_EQ(read->plan.program, right.plan.program);
    EXPECT_EQ(read->plan.machine, right.plan.machine);
    EXPECT_EQ(write_plan_json(read->plan, read->labels), text);
  }
}

TEST(ProgramPlans, NameTheirFeatures) {
  const auto features = [](MakePlan make) {
    Random random(1);
    std::string text;
    for (std::string_view feature : features_of(make(random).plan)) text += std::string(feature) + " ";
    return text;
  };
  EXPECT_EQ(features(recompute_plan), "recompute ");
  EXPECT_EQ(features(swap_plan), "copies links streams ");
  EXPECT_EQ(features(partial_concat_plan), "copies ");
  EXPECT_EQ(features(copied_state_plan), "copies state_updates ");
  EXPECT_EQ(features(in_place_state_plan), "state_updates ");
  EXPECT_EQ(features(random_numbers_plan), "");
}

// A bound for plans that run each node once says nothing about a plan that recomputes.
TEST(ProgramPlans, AreComparedWithBoundsOfTheirScopeOnly) {
  Random random(3);
  Mutant recomputing = recompute_plan(random);
  const Bytes load = recomputing.plan.claims.load;
  recomputing.plan.claims.bounds = {{BoundScope::run_once, load + Bytes(1), "search"}};
  EXPECT_EQ(messages(verify(*recomputing.graph, recomputing.plan)), "");
  recomputing.plan.claims.bounds = {{BoundScope::all_plans, load + Bytes(1), "working_set"}};
  EXPECT_EQ(kinds(verify(*recomputing.graph, recomputing.plan)), "wrong_claim");
  Mutant plain = random_numbers_plan(random);
  plain.plan.claims.bounds = {{BoundScope::run_once, plain.plan.claims.load + Bytes(1), "search"}};
  EXPECT_EQ(kinds(verify(*plain.graph, plain.plan)), "wrong_claim");
}

[[maybe_unused]] void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class Damages : public ::testing::TestWithParam<Damage> {};

// Every damaged plan is refused with the violation that names the damage. The oracles agree that the plan is wrong.
TEST_P(Damages, AreRefusedByName) {
  const Damage& damage = GetParam();
  Random random(0xBEEF);
  int applied = 0;
  for (int tries = 0; applied < kEach && tries < 50 * kEach; ++tries) {
    const std::vector<MakePlan>& makers = program_plans();
    Mutant mutant = makers[random.below(makers.size())](random);
    if (!damage.apply(random, mutant)) continue;
    ++applied;
    const bool is_sane = mutant.plan.layout.steps.size() == mutant.plan.program.steps.size();
    ASSERT_TRUE(is_sane);
    if (mutant.plan.program.outputs.size() == mutant.graph->outputs().size()) make_honest(*mutant.graph, mutant.plan);
    const std::vector<Violation> found = verify(*mutant.graph, mutant.plan);
    const bool is_named =
        std::any_of(found.begin(), found.end(), [&](const Violation& one) { return one.kind == damage.kind; });
    ASSERT_TRUE(is_named) << "no violation of kind " << to_string(damage.kind) << ", but:\n" << messages(found);
    const bool is_wrong = damage.kind == ViolationKind::race || !byte_faults(*mutant.graph, mutant.plan).empty() ||
                          !rule_faults(*mutant.graph, mutant.plan).empty();
    ASSERT_TRUE(is_wrong) << "refused, but the oracles see nothing wrong:\n" << messages(found);
  }
  EXPECT_EQ(applied, kEach);
}

INSTANTIATE_TEST_SUITE_P(Each, Damages, ::testing::ValuesIn(transfer_damages()),
                         [](const auto& damage) { return std::string(damage.param.name); });

TEST(Damages, AreAtLeastTwentyFiveKinds) { EXPECT_GE(transfer_damages().size(), 25U); }

}  // namespace
}  // namespace lowtide::testing
