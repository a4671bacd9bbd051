// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "lowtide/engine/engine.h"
#include "lowtide/runtime/session.h"
#include "tests/engine/small_model.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string small_model(const std::string& name, const std::string& first, const std::string& second) {
  return testing::write_temporary(::testing::TempDir(), name, testing::two_nodes(first, second));
}

std::vector<float> run(const std::shared_ptr<const Executable>& executable, const std::vector<float>& x) {
  const Arena arena = *Arena::allocate(executable->required_bytes());
  Session session = *Session::open(executable, arena);
  const std::array<std::int64_t, 1> extents{4};
  EXPECT_TRUE(session.bind_input("x", {DType::f32, extents, std::as_bytes(std::span(x))}).ok());
  EXPECT_TRUE(session.run().ok());
  std::vector<float> y(4);
  std::memcpy(y.data(), session.output(0).bytes.data(), 16);
  return y;
}

TEST(OpenModel, PlansAndRunsAFile) {
  const Result<OpenedModel> opened = open_model(small_model("relu.onnx", "Relu", "Relu"));
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(opened->shortfall, Bytes(0));
  EXPECT_EQ(opened->executable->plan().provenance.model, "relu.onnx");
  EXPECT_EQ(opened->executable->required_bytes(), Bytes(64));
  EXPECT_THAT(run(opened->executable, {-1, 2, -3, 4}), ElementsAre(0, 2, 0, 4));
}

TEST(OpenModel, SaysByHowMuchAPlanExceedsItsBudget) {
  OpenOptions options;
  options.plan.budget = Bytes(40);  // x of the caller has 16 bytes, and the arena 64
  const Result<OpenedModel> opened = open_model(small_model("budget.onnx", "Relu", "Relu"), options);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(opened->shortfall, Bytes(40));
}

TEST(OpenModel, RunsAGivenPlanOfTheSameModel) {
  const std::string path = small_model("given.onnx", "Relu", "Relu");
  OpenOptions options;
  options.given_plan = open_model(path)->executable->plan();
  const Result<OpenedModel> opened = open_model(path, options);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_THAT(run(opened->executable, {-1, 2, -3, 4}), ElementsAre(0, 2, 0, 4));
}

TEST(OpenModel, RefusesAPlanOfAnotherModelOrAWrongPlan) {
  OpenOptions options;
  options.given_plan = open_model(small_model("one.onnx", "Relu", "Relu"))->executable->plan();
  const Result<OpenedModel> other = open_model(small_model("two.onnx", "Relu", "Abs"), options);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::mismatch);
  EXPECT_THAT(other.error().message, HasSubstr("the plan is for the model with sha256 "));

  options.given_plan->layout.arena[0] = Bytes(0);
  const Result<OpenedModel> wrong = open_model(small_model("one.onnx", "Relu", "Relu"), options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::mismatch);
  EXPECT_THAT(wrong.error().message, HasSubstr("the plan is wrong for this model: "));
}

TEST(OpenModel, NamesOperatorsWithoutKernel) {
  const Result<OpenedModel> opened = open_model(small_model("hardmax.onnx", "Hardmax", "Relu"));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("Hardmax 'a_node'"));
}

}  // namespace
}  // namespace lowtide
