// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/measure_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lowtide/graph/work_text.h"
#include "lowtide/runtime/step_times.h"
#include "tests/engine/small_model.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

std::string small_model(const std::string& name, const std::string& first, const std::string& second) {
  return testing::write_temporary(::testing::TempDir(), name, testing::two_nodes(first, second));
}

MeasureOptions with_zeros() {
  static const std::vector<float> x(4);
  static const std::array<std::int64_t, 1> extents{4};
  return {.runs = 5, .bind_inputs = [](Session& session) {
            return session.bind_input("x", {DType::f32, extents, std::as_bytes(std::span(x))});
          }};
}

TEST(MeasureKernels, MeasuresEachKernelOfAPlan) {
  const std::string path = small_model("measured.onnx", "Neg", "Exp");
  OpenOptions options;
  options.lower.passes.erase(PassId::chains);
  const Result<KernelTimes> times = measure_kernels(path, options, with_zeros());
  ASSERT_TRUE(times.ok()) << times.error().describe();
  EXPECT_EQ(times->machine_key, texts_of(machine_key()));
  ASSERT_EQ(times->of_work.size(), 2U);
  options.costs = std::make_shared<const KernelTimes>(*times);
  const Result<OpenedModel> opened = open_model(path, options);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  std::int64_t sum = 0;
  for (const auto& [work, kernels] : times->of_work) {
    ASSERT_EQ(kernels.size(), 1U) << work;
    EXPECT_EQ(kernels.begin()->second.samples, 5) << work;
    sum += kernels.begin()->second.picoseconds;
  }
  EXPECT_EQ(*opened->estimate, (PlanEstimate{.picoseconds = sum, .kernels = 2, .measured = 2}));
}

// Both nodes are the same work.
TEST(MeasureKernels, TakesTheStepsOfOneWorkTogether) {
  OpenOptions options;
  options.lower.passes.erase(PassId::chains);
  const Result<KernelTimes> times = measure_kernels(small_model("equal.onnx", "Relu", "Relu"), options, with_zeros());
  ASSERT_TRUE(times.ok()) << times.error().describe();
  ASSERT_EQ(times->of_work.size(), 1U);
  EXPECT_EQ(times->of_work.begin()->first, "Relu (f32[4]) -> (f32[4])");
  EXPECT_EQ(times->of_work.begin()->second.begin()->second.samples, 10);
}

TEST(MeasureKernels, RefusesBudgetsAndPlans) {
  const std::string path = small_model("refused.onnx", "Relu", "Relu");
  OpenOptions with_budget;
  with_budget.plan.budget = Bytes(1000);
  OpenOptions with_plan;
  with_plan.given_plan = open_model(path)->executable->plan();
  for (const OpenOptions& options : {with_budget, with_plan}) {
    const Result<KernelTimes> times = measure_kernels(path, options, with_zeros());
    ASSERT_FALSE(times.ok());
    EXPECT_EQ(times.error().code, ErrorCode::invalid);
    EXPECT_THAT(times.error().message, HasSubstr("without a plan or a budget"));
  }
}

TEST(MeasureKernels, PlansWithTimesOfAnotherMachineAreRefused) {
  OpenOptions options;
  options.costs = std::make_shared<const KernelTimes>(KernelTimes{.machine_key = {"isa=none"}, .of_work = {}});
  const Result<OpenedModel> opened = open_model(small_model("other.onnx", "Relu", "Relu"), options);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::mismatch);
}

}  // namespace
}  // namespace lowtide
