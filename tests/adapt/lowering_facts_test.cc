// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/lowering_facts.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using testing::graph_of;

constexpr const char* kTwoNodes = R"(graph "g" {
  input x : f32[4]
  constant w : f32[4]
  v = Abs(w) : f32[4]
  a = Neg(x) "first" : f32[4]
  b = Add(a, v) : f32[4]
  y = Exp(b) : f32[4]
  output y
})";

std::optional<LoweringFacts> facts_of(const char* text, const LowerOptions& options) {
  const Graph model = graph_of(text);
  const Result<Lowered> lowered = lower(model, options);
  if (!lowered) throw std::runtime_error(lowered.error().describe());
  Result<std::optional<LoweringFacts>> facts = lowering_facts(model, *lowered, options, {});
  if (!facts) throw std::runtime_error(facts.error().describe());
  return *std::move(facts);
}

// Nodes without a name have that of what they write.
TEST(LoweringFacts, NameWhatRunsAndWhatItStandsFor) {
  const std::optional<LoweringFacts> facts = facts_of(kTwoNodes, {.passes = {PassId::load_time, PassId::chains}});
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->at_load, 1);
  EXPECT_EQ(facts->left_out, 0);
  ASSERT_EQ(facts->rewrites.size(), 1U);
  EXPECT_EQ(facts->rewrites[0].op, "lowtide::Chain");
  EXPECT_EQ(facts->rewrites[0].node, "node that writes y");
  EXPECT_THAT(facts->rewrites[0].from, ElementsAre("first", "Add that writes b", "Exp that writes y"));
  ASSERT_TRUE(facts->as_written.has_value());
  EXPECT_EQ(facts->as_written->arena, Bytes(64)) << "a, over which b and y are written";
}

TEST(LoweringFacts, AreAbsentWithoutAPassForKernels) {
  EXPECT_FALSE(facts_of(kTwoNodes, {}).has_value());
  EXPECT_TRUE(facts_of(kTwoNodes, {.passes = {PassId::load_time, PassId::unneeded}}).has_value());
}

}  // namespace
}  // namespace lowtide
