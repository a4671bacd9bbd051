// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/range.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "lowtide/runtime/session.h"
#include "tests/engine/batched_model.h"

namespace lowtide {
namespace {

using testing::batched_model;
using testing::batches;
using testing::run_session;

// The members run in turn in one arena, and share the constant that load-time work made.
TEST(OpenRange, RunsEachShapeInOneArena) {
  const std::string path = testing::write_temporary(::testing::TempDir(), "batched.onnx", batched_model());
  const Result<OpenedRange> range = open_range(path, batches({1, 2, 40}));
  ASSERT_TRUE(range.ok()) << range.error().describe();
  ASSERT_EQ(range->members.size(), 3U);
  EXPECT_EQ(range->required_bytes(), Bytes(40 * 16));
  EXPECT_THAT(range->members[1].executable->plan().provenance.dims, ::testing::ElementsAre("batch=2"));
  EXPECT_EQ(range->find({{"x", {2, 4}}}), &range->members[1]);
  EXPECT_EQ(range->find({{"x", {3, 4}}}), nullptr);
  EXPECT_EQ(range->find({{"z", {2, 4}}}), nullptr);
  EXPECT_EQ(range->find({{"x", {2, 4}}, {"z", {2, 4}}}), nullptr);
  for (const OpenedModel& member : range->members) {
    EXPECT_EQ(member.executable->shared_weights(), range->members[0].executable->shared_weights());
  }

  const Arena arena = *Arena::allocate(range->required_bytes());
  Session small = *Session::open(range->members[0].executable, arena);
  Session large = *Session::open(range->members[2].executable, arena);
  const std::vector<float> one_row(4, 0);
  const std::vector<float> many_rows(160, 0);
  std::vector<float> expected;
  for (int row = 0; row < 40; ++row) expected.insert(expected.end(), {0, -1, -2, -3});  // exp(0) - k
  const std::vector<float> first = run_session(small, one_row);
  EXPECT_EQ(first, std::vector<float>(expected.begin(), expected.begin() + 4));
  EXPECT_EQ(run_session(large, many_rows), expected);
  EXPECT_EQ(run_session(small, one_row), first);
}

// The values of k exist while the first member computes w, which all members read.
TEST(OpenRange, SharesWhatIsComputedFromSyntheticWeights) {
  const std::string path =
      testing::write_temporary(::testing::TempDir(), "absent.onnx", batched_model(testing::absent_k()));
  const Result<OpenedRange> range = open_range(path, batches({1, 2}), {.synthetic_seed = 1});
  ASSERT_TRUE(range.ok()) << range.error().describe();
  const ModelWeights& weights = range->members[0].executable->weights();
  EXPECT_EQ(&weights, &range->members[1].executable->weights());
  EXPECT_EQ(weights.bytes(ConstantId(0)), std::nullopt);
  const Arena arena = *Arena::allocate(range->required_bytes());
  Session one = *Session::open(range->members[0].executable, arena);
  Session two = *Session::open(range->members[1].executable, arena);
  const std::vector<float> first = run_session(one, std::vector<float>(4, 0));
  EXPECT_NE(first, std::vector<float>(4, 1));
  std::vector<float> twice = first;
  twice.insert(twice.end(), first.begin(), first.end());
  EXPECT_EQ(run_session(two, std::vector<float>(8, 0)), twice);
}

TEST(OpenRange, TakesShapesOfInputs) {
  const std::string path = testing::write_temporary(::testing::TempDir(), "shaped.onnx", batched_model());
  const std::vector<SizeChoice> choices = {{.shapes = {{"x", {8, -1}}}}, {.shapes = {{"x", {3, 4}}}}};
  const Result<OpenedRange> range = open_range(path, choices);
  ASSERT_TRUE(range.ok()) << range.error().describe();
  EXPECT_EQ(range->required_bytes(), Bytes(8 * 16));
  EXPECT_THAT(range->members[0].executable->plan().provenance.dims, ::testing::ElementsAre("x=[8,?]"));
  EXPECT_EQ(range->find({{"x", {3, 4}}}), &range->members[1]);
  EXPECT_EQ(range->find({{"x", {8, 4}}}), &range->members[0]);
}

TEST(OpenRange, ReplacesSizesOfAllMembersInItsPlans) {
  const std::string path = testing::write_temporary(::testing::TempDir(), "replaced.onnx", batched_model());
  OpenOptions options;
  options.import.dims["batch"] = 7;
  options.plan.dims = {"batch=7"};
  const Result<OpenedRange> range = open_range(path, batches({2}), options);
  ASSERT_TRUE(range.ok()) << range.error().describe();
  EXPECT_THAT(range->members[0].executable->plan().provenance.dims, ::testing::ElementsAre("batch=2"));
  const Result<OpenedRange> one = open_range(path, options);
  ASSERT_TRUE(one.ok()) << one.error().describe();
  EXPECT_THAT(one->members[0].executable->plan().provenance.dims, ::testing::ElementsAre("batch=7"));
}

TEST(OpenRange, NamesTheErrorOfAMember) {
  const std::string path = testing::write_temporary(::testing::TempDir(), "unranged.onnx", batched_model());
  const Result<OpenedRange> range = open_range(path, batches({1, 2}, "length"));
  ASSERT_FALSE(range.ok());
  EXPECT_THAT(range.error().message, ::testing::HasSubstr("the model has no symbol 'length'"));
}

}  // namespace
}  // namespace lowtide
