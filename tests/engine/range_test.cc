// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/range.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowtide/runtime/session.h"
#include "tests/engine/small_model.h"

namespace lowtide {
namespace {

using testing::bytes_field;
using testing::node;
using testing::number_field;

// A ValueInfoProto of f32[batch,4].
std::string rows(const std::string& name) {
  const std::string shape = bytes_field(1, bytes_field(2, "batch")) + bytes_field(1, number_field(1, 4));
  const std::string tensor = number_field(1, 1) + bytes_field(2, shape);
  return bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor));
}

// k is 1, 2, 3, 4.
std::string given_k() {
  const std::array<float, 4> k{1, 2, 3, 4};
  return bytes_field(9, std::string(reinterpret_cast<const char*>(k.data()), sizeof k));
}

// k is in a file that is absent.
std::string absent_k() {
  return bytes_field(13, bytes_field(1, "location") + bytes_field(2, "absent.bin")) + number_field(14, 1);
}

// y = Add(Exp(x), Neg(k)), where Neg is load-time work.
std::string batched_model(const std::string& content_of_k = given_k()) {
  const std::string initializer = number_field(1, 4) + number_field(2, 1) + bytes_field(8, "k") + content_of_k;
  const std::string add = bytes_field(1, "a") + bytes_field(1, "w") + bytes_field(2, "y") + bytes_field(4, "Add");
  const std::string graph = bytes_field(1, node("Exp", "x", "a")) + bytes_field(1, node("Neg", "k", "w")) +
                            bytes_field(1, add) + bytes_field(2, "batched") + bytes_field(5, initializer) +
                            bytes_field(11, rows("x")) + bytes_field(12, rows("y"));
  return number_field(1, 8) + bytes_field(7, graph) + bytes_field(8, number_field(2, 17));
}

std::vector<SizeChoice> batches(const std::vector<std::int64_t>& extents, const std::string& symbol = "batch") {
  std::vector<SizeChoice> choices;
  for (std::int64_t extent : extents) choices.push_back({.dims = {{symbol, extent}}});
  return choices;
}

std::vector<float> run_session(Session& session, const std::vector<float>& x) {
  const std::array<std::int64_t, 2> extents{static_cast<std::int64_t>(x.size() / 4), 4};
  EXPECT_TRUE(session.bind_input("x", {DType::f32, extents, std::as_bytes(std::span(x))}).ok());
  EXPECT_TRUE(session.run().ok());
  std::vector<float> y(x.size());
  const OutputRef output = session.output(0);
  EXPECT_EQ(output.bytes.size(), y.size() * sizeof(float));
  std::memcpy(y.data(), output.bytes.data(), output.bytes.size());
  return y;
}

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
  const std::string path = testing::write_temporary(::testing::TempDir(), "absent.onnx", batched_model(absent_k()));
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
}

TEST(OpenRange, NamesTheErrorOfAMember) {
  const std::string path = testing::write_temporary(::testing::TempDir(), "unranged.onnx", batched_model());
  const Result<OpenedRange> range = open_range(path, batches({1, 2}, "length"));
  ASSERT_FALSE(range.ok());
  EXPECT_THAT(range.error().message, ::testing::HasSubstr("the model has no symbol 'length'"));
}

}  // namespace
}  // namespace lowtide
