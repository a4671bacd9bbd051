// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

#include "lowtide/engine/engine.h"
#include "lowtide/runtime/session.h"
#include "tests/engine/small_model.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string two_node_model(const std::string& name, const std::string& first, const std::string& second) {
  return testing::write_temporary(::testing::TempDir(), name, testing::two_nodes(first, second));
}

std::vector<float> run_once(const std::shared_ptr<const Executable>& executable, const std::vector<float>& x) {
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
  const Result<OpenedModel> opened = open_model(two_node_model("relu.onnx", "Relu", "Relu"));
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(opened->shortfall, Bytes(0));
  EXPECT_EQ(opened->executable->plan().provenance.model, "relu.onnx");
  EXPECT_EQ(opened->executable->required_bytes(), Bytes(64));
  EXPECT_THAT(run_once(opened->executable, {-1, 2, -3, 4}), ElementsAre(0, 2, 0, 4));
}

TEST(OpenModel, FusesElementwiseNodesUnlessThatIsOff) {
  const std::string path = two_node_model("chain.onnx", "Neg", "Exp");
  const Result<OpenedModel> fused = open_model(path);
  ASSERT_TRUE(fused.ok()) << fused.error().describe();
  EXPECT_THAT(fused->executable->plan().provenance.lowering, ElementsAre("chains"));
  EXPECT_EQ(fused->executable->plan().program.steps.size(), 1U);
  OpenOptions options;
  options.lower.passes.erase(PassId::chains);
  const Result<OpenedModel> separate = open_model(path, options);
  ASSERT_TRUE(separate.ok()) << separate.error().describe();
  EXPECT_EQ(separate->executable->plan().program.steps.size(), 2U);
  const std::vector<float> x = {-1, 0.1F, 0, 7};
  EXPECT_EQ(run_once(fused->executable, x), run_once(separate->executable, x));
}

TEST(OpenModel, SaysByHowMuchAPlanExceedsItsBudget) {
  OpenOptions options;
  options.plan.budget = Bytes(40);  // x of the caller has 16 bytes, and the arena 64
  const Result<OpenedModel> opened = open_model(two_node_model("budget.onnx", "Relu", "Relu"), options);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(opened->shortfall, Bytes(40));
}

TEST(OpenModel, RunsAGivenPlanOfTheSameModel) {
  const std::string path = two_node_model("given.onnx", "Relu", "Relu");
  OpenOptions options;
  options.given_plan = open_model(path)->executable->plan();
  const Result<OpenedModel> opened = open_model(path, options);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_THAT(run_once(opened->executable, {-1, 2, -3, 4}), ElementsAre(0, 2, 0, 4));
}

TEST(OpenModel, RefusesAPlanOfAnotherModelOrAWrongPlan) {
  OpenOptions options;
  options.given_plan = open_model(two_node_model("one.onnx", "Relu", "Relu"))->executable->plan();
  const Result<OpenedModel> other = open_model(two_node_model("two.onnx", "Relu", "Abs"), options);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::mismatch);
  EXPECT_THAT(other.error().message, HasSubstr("the plan is for the model with sha256 "));

  options.given_plan->layout.arena[0] = Bytes(0);
  const Result<OpenedModel> wrong = open_model(two_node_model("one.onnx", "Relu", "Relu"), options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::mismatch);
  EXPECT_THAT(wrong.error().message, HasSubstr("the plan is wrong for this model: "));
}

TEST(OpenModel, RefusesAPlanWithTheNamesOfAnotherModel) {
  const std::string path = two_node_model("labels.onnx", "Relu", "Relu");
  OpenOptions options;
  const Result<OpenedModel> made = open_model(path);
  options.given_plan = made->executable->plan();
  options.given_labels = labels_of(made->executable->graph());
  EXPECT_TRUE(open_model(path, options).ok());
  options.given_labels->tensors[TensorId(0)].name = "z";
  const Result<OpenedModel> opened = open_model(path, options);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::mismatch);
  EXPECT_THAT(opened.error().message, HasSubstr("the plan is wrong for this model: "));
  EXPECT_THAT(opened.error().message, HasSubstr("'z'"));
}

// `dense` is the kernel of the target with this name, whose plans run with the plain kernels.
TEST(OpenModel, RefusesAKernelThatTheTargetOfThePlanDoesNotHave) {
  const std::string path = two_node_model("kernels.onnx", "Relu", "Relu");
  OpenOptions options;
  options.given_plan = open_model(path)->executable->plan();
  ASSERT_EQ(options.given_plan->provenance.target, "cpu");
  options.given_plan->kernels[KernelId(0)].name = "dense";
  const Result<OpenedModel> refused = open_model(path, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::mismatch);
  EXPECT_THAT(refused.error().message, HasSubstr("runs kernel 'dense', but the target offers"));
  options.given_plan->provenance.target = "dense";
  options.given_plan->provenance.machine_key = {};
  EXPECT_TRUE(open_model(path, options).ok());
}

// The bytes of files that this process has in memory through maps.
std::int64_t mapped_file_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  std::int64_t of_files = 0;
  statm >> total >> resident >> of_files;
  return of_files * sysconf(_SC_PAGESIZE);
}

constexpr std::int64_t kRows = 1'000'000;

TEST(OpenModel, GivesBackThePagesOfWeightsThatItCopies) {
  for (const bool has_load_time : {false, true}) {
    const std::string path = testing::write_temporary(::testing::TempDir(), "weights.onnx",
                                                      testing::ones_added(kRows, has_load_time, has_load_time ? 0 : 1));
    OpenOptions options;
    options.plan = {.order = "as_given", .order_effort = 0, .allocate_effort = 0};
    ASSERT_TRUE(open_model(path, options).ok());  // touches the pages of the program and of its libraries
    const std::int64_t before = mapped_file_bytes();
    const Result<OpenedModel> opened = open_model(path, options);
    ASSERT_TRUE(opened.ok()) << opened.error().describe();
    EXPECT_EQ(opened->executable->memory().copied, Bytes(16 * kRows));
    EXPECT_LT(mapped_file_bytes() - before, 4'000'000) << "of 16 MB";
    const Arena arena = *Arena::allocate(opened->executable->required_bytes());
    Session session = *Session::open(opened->executable, arena);
    const std::vector<float> x = {1, 2, 3, 4};
    const std::array<std::int64_t, 1> extents{4};
    ASSERT_TRUE(session.bind_input("x", {DType::f32, extents, std::as_bytes(std::span(x))}).ok());
    ASSERT_TRUE(session.run().ok());
    std::vector<float> last(4);
    std::memcpy(last.data(), session.output(0).bytes.last(16).data(), 16);
    EXPECT_THAT(last, ElementsAre(2, 3, 4, 5));
  }
}

TEST(OpenModel, NamesOperatorsWithoutKernel) {
  const Result<OpenedModel> opened = open_model(two_node_model("bernoulli.onnx", "Bernoulli", "Relu"));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("Bernoulli 'a_node'"));
}

}  // namespace
}  // namespace lowtide
