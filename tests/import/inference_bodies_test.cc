// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/control_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/inference_cases.h"

namespace lowtide::import_internal {
namespace {

using namespace testing;  // the helpers of inference_cases.h
using ::testing::HasSubstr;

std::string described_with(BodyWalk& walk, const std::string& node, const Facts& inputs) {
  return described(infer(node, inputs, 21, walk.infer_body()));
}

TEST(InferenceBodies, IfMergesItsBranches) {
  BodyWalk walk;
  walk.outer()["x"] = f32({4, 8});
  const std::string node =
      "y = If (c) <then_branch = t () => (float p) { p = Relu(x) },"
      "           else_branch = e () => (float q) { i = Constant<value_ints = [0, 1]>() q = Gather<axis = 0>(x, i) }>";
  // 4 rows or 2 rows.
  EXPECT_EQ(described_with(walk, node, {boolean({})}), "f32[<=4,8]");
  EXPECT_EQ(described_with(walk, node, {scalar(1, DType::boolean)}), "f32[4,8]");
  EXPECT_EQ(described_with(walk, node, {scalar(0, DType::boolean)}), "f32[2,8]");
}

TEST(InferenceBodies, IfWithDifferentRanksHasNoRank) {
  BodyWalk walk;
  walk.outer()["x"] = f32({4});
  EXPECT_EQ(described_with(
                walk,
                "y = If (c) <then_branch = t () => (float p) { p = Relu(x) },"
                "           else_branch = e () => (float q) { a = Constant<value_ints = [0]>() q = Unsqueeze(x, a) }>",
                {boolean({})}),
            "f32, rank unknown");
}

// 4 and 3 elements do not broadcast, so no run takes the second branch.
TEST(InferenceBodies, IfTakesTheBranchThatCanRun) {
  BodyWalk walk;
  walk.outer()["x"] = f32({4});
  walk.outer()["z"] = f32({3});
  EXPECT_EQ(described_with(walk,
                           "y = If (c) <then_branch = t () => (float p) { p = Relu(x) },"
                           "           else_branch = e () => (float q) { q = Add(x, z) }>",
                           {boolean({})}),
            "f32[4]");
  EXPECT_THAT(described_with(walk,
                             "y = If (c) <then_branch = t () => (float p) { p = Add(x, z) },"
                             "           else_branch = e () => (float q) { q = Add(x, z) }>",
                             {boolean({})}),
              HasSubstr("invalid: "));
  // A branch with an unknown operator may be able to run.
  EXPECT_THAT(described_with(walk,
                             "y = If (c) <then_branch = t () => (float p) { p = Relu(x) },"
                             "           else_branch = e () => (float q) { q = Frobnicate(x) }>",
                             {boolean({})}),
              HasSubstr("unsupported: "));
}

TEST(InferenceBodies, IfRefusesDifferentElementTypes) {
  BodyWalk walk;
  walk.outer()["x"] = f32({4});
  EXPECT_THAT(described_with(walk,
                             "y = If (c) <then_branch = t () => (float p) { p = Relu(x) },"
                             "           else_branch = e () => (int64 q) { q = Shape(x) }>",
                             {boolean({})}),
              HasSubstr("output 0: one branch returns elements of type f32 and the other of type i64"));
}

const char* const kLoopModel =
    "s, each = Loop (m, c, x) <body = b (int64 i, bool on, float state) => (bool go, float next, float out)"
    "  { go = Identity(on) next = Relu(state) out = Exp(state) }>";

TEST(InferenceBodies, LoopWithAConstantConditionHasAnExactTripCount) {
  BodyWalk walk;
  // The body returns its condition unchanged, so it is always true.
  EXPECT_EQ(described_with(walk, kLoopModel, {scalar(5), scalar(1, DType::boolean), f32({2, 3})}),
            "f32[2,3] f32[5,2,3]");
  EXPECT_EQ(walk.runs(), 1);
  EXPECT_EQ(described_with(walk, kLoopModel, {scalar(5), boolean({}), f32({2, 3})}), "f32[2,3] f32[<=5,2,3]");
  const std::string turned =
      "s, each = Loop (m, c, x) <body = b (int64 i, bool on, float state) => (bool go, float next, float out)"
      "  { go = Not(on) next = Relu(state) out = Exp(state) }>";
  EXPECT_EQ(described_with(walk, turned, {scalar(5), scalar(1, DType::boolean), f32({2, 3})}), "f32[2,3] f32[<=5,2,3]");
  const std::string always =
      "s, each = Loop (m, c, x) <body = b (int64 i, bool on, float state) => (bool go, float next, float out)"
      "  { go = Constant<value = bool {1}>() next = Relu(state) out = Exp(state) }>";
  EXPECT_EQ(described_with(walk, always, {scalar(5), scalar(1, DType::boolean), f32({2, 3})}), "f32[2,3] f32[5,2,3]");
  EXPECT_EQ(described_with(walk, always, {scalar(-5), scalar(1, DType::boolean), f32({2, 3})}), "f32[2,3] f32[0,2,3]");
  EXPECT_EQ(described_with(walk, always, {scalar(5), boolean({}), f32({2, 3})}), "f32[2,3] f32[<=5,2,3]");
  EXPECT_EQ(described_with(walk, always, {i64({}), scalar(1, DType::boolean), f32({2, 3})}),
            "f32[2,3] f32[each[0],2,3]");
}

TEST(InferenceBodies, AnExtentThatALoopChangesIsUnknown) {
  BodyWalk walk;
  const std::string growing =
      "s = Loop (m, c, x) <body = b (int64 i, bool on, float state) => (bool go, float next)"
      "  { go = Identity(on) next = Concat<axis = 0>(state, state) }>";
  EXPECT_EQ(described_with(walk, growing, {scalar(5), scalar(1, DType::boolean), f32({2, 3})}), "f32[s[0],3]");
  EXPECT_LE(walk.runs(), 3);
  const std::string deeper =
      "s = Loop (m, c, x) <body = b (int64 i, bool on, float state) => (bool go, float next)"
      "  { go = Identity(on) a = Constant<value_ints = [0]>() next = Unsqueeze(state, a) }>";
  EXPECT_EQ(described_with(walk, deeper, {scalar(5), scalar(1, DType::boolean), f32({2, 3})}), "f32, rank unknown");
}

TEST(InferenceBodies, LoopKeepsTheContentOfUnchangedStates) {
  BodyWalk walk;
  const auto kept = infer(
      "s, t = Loop (m, c, x, n) <body = b (int64 i, bool on, int64 p, int64 q) => (bool on, int64 p, int64 r)"
      "  { r = Add(p, q) }>",
      {scalar(5), scalar(1, DType::boolean), list({7}), list({8})}, 21, walk.infer_body());
  ASSERT_TRUE(kept.ok()) << described(kept);
  ASSERT_NE((*kept)[0].known.content, nullptr);
  EXPECT_EQ((*kept)[0].known.content->elements, std::vector<KnownElement>{number(7)});
  EXPECT_EQ((*kept)[1].known.content, nullptr);
}

TEST(InferenceBodies, LoopRefusesAStateWithAnotherType) {
  BodyWalk walk;
  EXPECT_THAT(described_with(walk,
                             "s = Loop (m, c, x) <body = b (int64 i, bool on, float state) => (bool go, int64 next)"
                             "  { go = Identity(on) next = Shape(state) }>",
                             {scalar(5), scalar(1, DType::boolean), f32({2})}),
              HasSubstr("state 0 has type f32, but the body returns i64"));
}

TEST(InferenceBodies, NestedLoopsAreInferredAFewTimes) {
  std::string text = "next = Concat<axis = 0>(s0, s0)";
  constexpr int kDeep = 12;
  for (int level = 1; level <= kDeep; ++level) {
    const std::string state = level == kDeep ? "x" : "s" + std::to_string(level);
    const std::string inner = "s" + std::to_string(level - 1);
    const std::string result = level == 1 ? "next" : "r" + std::to_string(level - 1);
    text = "r" + std::to_string(level) + " = Loop (m, c, " + state + ") <body = b (int64 i" + std::to_string(level) +
           ", bool on" + std::to_string(level) + ", float " + inner + ") => (bool on" + std::to_string(level) +
           ", float " + result + ") { " + text + " }>";
  }
  BodyWalk walk;
  walk.outer()["m"] = scalar(5);
  walk.outer()["c"] = scalar(1, DType::boolean);
  EXPECT_EQ(described_with(walk, text, {scalar(5), scalar(1, DType::boolean), f32({2, 3})}), "f32[r12[0],r12[1]]");
  // The states change at each level. So the body of each level is inferred with known sizes and then with open ones.
  // With open sizes, an outer body is inferred once, and the two inner ones at most three times: 12 x (1 + 1 + 3 + 9).
  EXPECT_LE(walk.runs(), 168);
}

TEST(InferenceBodies, ScanTakesItsLengthFromItsInputs) {
  BodyWalk walk;
  const std::string node =
      "s, out = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1],"
      " body = b (float state, float row) => (float next, float each) { next = Add(state, row) each = Identity(row) }>"
      " (x, rows)";
  EXPECT_EQ(described_with(walk, node, {f32({4}), f32({4, 7})}), "f32[4] f32[4,7]");
  EXPECT_EQ(described_with(walk, node, {f32({4}), fact(DType::f32, {exactly(4), at_most(7)})}), "f32[4] f32[4,<=7]");
  EXPECT_THAT(described_with(walk, node, {f32({4}), f32({4})}),
              HasSubstr("'scan_input_axes' has an axis outside the rank"));
}

TEST(InferenceBodies, ReturnTheErrorsOfTheirNodes) {
  const InferBody refuse = [](const onnx::GraphProto&, std::span<const TensorFact>) {
    return Result<Facts>(Error{ErrorCode::over_limit, "too deep", "body"});
  };
  const auto facts = infer(kLoopModel, {scalar(5), scalar(1, DType::boolean), f32({2, 3})}, 21, refuse);
  expect_refused(facts, ErrorCode::over_limit, {"too deep", "body"});
}

TEST(InferenceBodies, WithWrongCountsAreRefused) {
  BodyWalk walk;
  EXPECT_THAT(described_with(walk, "s = Loop (m, c, x) <body = b (int64 i, bool on) => (bool on) { }>",
                             {scalar(5), scalar(1, DType::boolean), f32({2})}),
              HasSubstr("number of outputs of the body: 1, expected 2"));
  walk.outer()["x"] = f32({2});
  EXPECT_THAT(
      described_with(walk, "y = If (c) <then_branch = t () => (float p) { p = Relu(x) }, else_branch = e () => () { }>",
                     {boolean({})}),
      HasSubstr("number of outputs of branch 'e': 0, expected 1"));
}

}  // namespace
}  // namespace lowtide::import_internal
