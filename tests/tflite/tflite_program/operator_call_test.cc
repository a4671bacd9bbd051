// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/operator_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "lowtide/c_source/c_kernels/c_kernels.h"

namespace lowtide {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TfliteTensor tensor(std::vector<std::int64_t> shape, double scale = 0.5, std::int64_t zero_point = 0,
                    TfliteType type = TfliteType::int8) {
  TfliteTensor made{.name = "t", .type = type, .shape = std::move(shape)};
  made.quantization = {.scales = {scale}, .zero_points = {zero_point}};
  return made;
}

// A model of one operator, whose tensors are its inputs and then its outputs.
TfliteModel model_of(TfliteOperator op, std::vector<TfliteTensor> inputs, std::vector<TfliteTensor> outputs) {
  TfliteModel model;
  model.buffers.emplace_back();
  TfliteSubgraph graph;
  for (TfliteTensor& one : inputs) {
    op.inputs.emplace_back(static_cast<std::uint32_t>(graph.tensors.size()));
    graph.tensors.push_back(std::move(one));
  }
  for (TfliteTensor& one : outputs) {
    op.outputs.emplace_back(static_cast<std::uint32_t>(graph.tensors.size()));
    graph.tensors.push_back(std::move(one));
  }
  graph.operators.push_back(std::move(op));
  model.subgraphs.push_back(std::move(graph));
  return model;
}

struct Calls {
  Result<std::vector<CCall>> calls;
  std::vector<CConstant> constants;
};

// Tensor i of the subgraph is tensor 10 + i of the program.
Calls calls_of(const TfliteModel& model) {
  std::vector<COperand> operands;
  for (std::size_t at = 0; at < model.subgraphs[0].tensors.size(); ++at) operands.emplace_back(CTensorIndex{10 + at});
  std::vector<CConstant> constants;
  Result<std::vector<CCall>> calls = calls_of_operator({model, "", 0, 0}, operands, constants);
  return {std::move(calls), std::move(constants)};
}

std::int32_t integer(const CCall& call, const std::string& name) {
  for (const CParameter& parameter : call.parameters) {
    if (parameter.name == name) return std::get<std::int32_t>(parameter.value);
  }
  ADD_FAILURE() << name;
  return 0;
}

std::vector<std::int32_t> words(const CConstant& constant) {
  std::vector<std::int32_t> numbers(constant.bytes.size() / sizeof(std::int32_t));
  std::memcpy(numbers.data(), constant.bytes.data(), constant.bytes.size());
  return numbers;
}

TfliteOperator convolution(const std::string& padding, const std::string& activation = "NONE") {
  return {.type = "CONV_2D",
          .options = {{"padding", padding},
                      {"stride_w", std::int64_t{2}},
                      {"stride_h", std::int64_t{2}},
                      {"dilation_w_factor", std::int64_t{1}},
                      {"dilation_h_factor", std::int64_t{1}},
                      {"fused_activation_function", activation}}};
}

TEST(OperatorCall, ConvolutionHasPaddingAndMultipliers) {
  // Window 3, stride 2, 4 rows to 2: (2 - 1) * 2 + 3 - 4 = 1 row of padding, all of it after the input.
  // 5 columns to 3: (3 - 1) * 2 + 3 - 5 = 2 columns, one on each side.
  TfliteTensor weights = tensor({2, 3, 3, 1});
  weights.quantization = {.scales = {0.25, 0.5}, .zero_points = {0, 0}};
  const Calls made =
      calls_of(model_of(convolution("SAME"), {tensor({1, 4, 5, 1}, 0.5, 3), weights}, {tensor({1, 2, 3, 2}, 1.0, -4)}));
  ASSERT_TRUE(made.calls.ok()) << made.calls.error().describe();
  ASSERT_THAT(*made.calls, SizeIs(1));
  const CCall& call = made.calls->front();
  EXPECT_EQ(call.kernel, "conv_2d_i8");
  EXPECT_EQ(call.origin, "CONV_2D 0 (t)");
  EXPECT_EQ(integer(call, "top"), 0);
  EXPECT_EQ(integer(call, "left"), 1);
  EXPECT_EQ(integer(call, "input_zero_point"), 3);
  EXPECT_EQ(integer(call, "output_zero_point"), -4);
  EXPECT_EQ(integer(call, "per_channel"), 1);
  // 0.5 * 0.25 / 1 = 2^-3 is 2^30 with shift -2, and 0.5 * 0.5 / 1 has shift -1.
  ASSERT_THAT(made.constants, SizeIs(2));
  EXPECT_THAT(words(made.constants[0]), ElementsAre(1 << 30, 1 << 30));
  EXPECT_THAT(words(made.constants[1]), ElementsAre(-2, -1));
  ASSERT_THAT(call.operands, SizeIs(6));
  EXPECT_EQ(std::get<CTensorIndex>(call.operands[0]).value, 10U);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(call.operands[2]));  // no bias
  EXPECT_EQ(std::get<CConstantIndex>(call.operands[4]).value, 1U);
  EXPECT_EQ(std::get<CTensorIndex>(call.operands[5]).value, 12U);
}

TEST(OperatorCall, ActivationsLimitTheOutput) {
  // 6 / 0.5 = 12 steps above the zero point -4.
  const auto limits = [](const std::string& activation) {
    const Calls made = calls_of(model_of(convolution("SAME", activation), {tensor({1, 2, 2, 1}), tensor({1, 1, 1, 1})},
                                         {tensor({1, 1, 1, 1}, 0.5, -4)}));
    EXPECT_TRUE(made.calls.ok());
    return std::pair(integer(made.calls->front(), "lowest"), integer(made.calls->front(), "highest"));
  };
  EXPECT_EQ(limits("NONE"), std::pair(-128, 127));
  EXPECT_EQ(limits("RELU"), std::pair(-4, 127));
  EXPECT_EQ(limits("RELU6"), std::pair(-4, 8));
  EXPECT_EQ(limits("RELU_N1_TO_1"), std::pair(-6, -2));
}

TEST(OperatorCall, RefusesShapesThatDoNotFit) {
  const Calls made =
      calls_of(model_of(convolution("VALID"), {tensor({1, 4, 5, 1}), tensor({2, 3, 3, 1})}, {tensor({1, 2, 2, 2})}));
  ASSERT_FALSE(made.calls.ok());
  EXPECT_EQ(made.calls.error().code, ErrorCode::invalid);
  EXPECT_EQ(made.calls.error().describe(),
            "subgraph 0: operator 0 CONV_2D: its output has extent 2 along an axis where 1 follows from its input");
}

TEST(OperatorCall, NamesTheTypesThatAreSupported) {
  const Calls made = calls_of(model_of(convolution("SAME"), {tensor({1, 2, 2, 1}), tensor({1, 1, 1, 1})},
                                       {tensor({1, 1, 1, 1}, 0.5, 0, TfliteType::uint8)}));
  ASSERT_FALSE(made.calls.ok());
  EXPECT_EQ(made.calls.error().code, ErrorCode::unsupported);
  EXPECT_THAT(made.calls.error().message,
              HasSubstr("it is from INT8, INT8 to UINT8; supported are: INT8, INT8 to INT8"));
}

TEST(OperatorCall, NamesUnknownOperators) {
  const Calls made = calls_of(model_of({.type = "WHILE"}, {}, {}));
  ASSERT_FALSE(made.calls.ok());
  EXPECT_EQ(made.calls.error().describe(), "subgraph 0: operator 0 WHILE: C source has no kernel for it");
  EXPECT_THAT(operators_with_calls(), Contains("CONV_2D"));
}

TEST(OperatorCall, RefusesMissingOperands) {
  TfliteModel model = model_of({.type = "RESHAPE"}, {tensor({4})}, {tensor({2, 2})});
  model.subgraphs[0].operators[0].inputs[0].reset();
  const Calls made = calls_of(model);
  ASSERT_FALSE(made.calls.ok());
  EXPECT_EQ(made.calls.error().message, "input 0 is missing");
}

TEST(OperatorCall, ReshapeCopiesBytes) {
  const Calls made = calls_of(
      model_of({.type = "RESHAPE"}, {tensor({4}, 1, 0, TfliteType::int16)}, {tensor({2, 2}, 1, 0, TfliteType::int16)}));
  ASSERT_TRUE(made.calls.ok());
  EXPECT_EQ(made.calls->front().kernel, "copy");
  EXPECT_EQ(integer(made.calls->front(), "bytes"), 8);
}

TEST(OperatorCall, SoftmaxHasATableOfExponentials) {
  const Calls made = calls_of(model_of({.type = "SOFTMAX", .options = {{"beta", 1.0}}}, {tensor({1, 4}, 1.0)},
                                       {tensor({1, 4}, 1.0 / 256, -128)}));
  ASSERT_TRUE(made.calls.ok()) << made.calls.error().describe();
  ASSERT_THAT(made.constants, SizeIs(1));
  const std::vector<std::int32_t> table = words(made.constants[0]);
  ASSERT_THAT(table, SizeIs(256));
  EXPECT_NEAR(table[0] / 0x1p31, 1, 1e-6);
  EXPECT_NEAR(table[1] / 0x1p31, 0.36787944, 1e-6);  // 1/e
  EXPECT_EQ(table[40], 0);
}

}  // namespace
}  // namespace lowtide
