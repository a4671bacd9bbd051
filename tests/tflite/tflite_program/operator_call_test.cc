// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/operator_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/tflite/tflite_program/one_operator.h"

namespace lowtide::tflite_program_tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;
using testing::StartsWith;

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
  const Calls made = calls_of(
      one_operator(convolution("SAME"), {tensor({1, 4, 5, 1}, 0.5, 3), weights}, {tensor({1, 2, 3, 2}, 1.0, -4)}));
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
    const Calls made =
        calls_of(one_operator(convolution("SAME", activation), {tensor({1, 2, 2, 1}), tensor({1, 1, 1, 1})},
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
  const Calls made = calls_of(
      one_operator(convolution("VALID"), {tensor({1, 4, 5, 1}), tensor({2, 3, 3, 1})}, {tensor({1, 2, 2, 2})}));
  ASSERT_FALSE(made.calls.ok());
  EXPECT_EQ(made.calls.error().code, ErrorCode::invalid);
  EXPECT_EQ(made.calls.error().describe(),
            "subgraph 0: operator 0 CONV_2D: its output has extent 2 along an axis where 1 follows from its input");
}

TEST(OperatorCall, NamesTheTypesThatAreSupported) {
  const Calls made = calls_of(one_operator(convolution("SAME"), {tensor({1, 2, 2, 1}), tensor({1, 1, 1, 1})},
                                           {tensor({1, 1, 1, 1}, 0.5, 0, TfliteType::uint8)}));
  ASSERT_FALSE(made.calls.ok());
  EXPECT_EQ(made.calls.error().code, ErrorCode::unsupported);
  EXPECT_EQ(made.calls.error().message,
            "its input, weights and output have types INT8, INT8 and UINT8; supported is INT8 for all of them");
}

TEST(OperatorCall, NamesTheTypesThatAnInputMayHave) {
  const Calls made = calls_of(one_operator({.type = "ABS"}, {tensor({4}, 1, 0, TfliteType::complex64)},
                                           {tensor({4}, 1, 0, TfliteType::complex64)}));
  ASSERT_FALSE(made.calls.ok());
  EXPECT_THAT(made.calls.error().message, StartsWith("input 0 has type COMPLEX64; supported are: "));
}

TEST(OperatorCall, NamesUnknownOperators) {
  const Calls made = calls_of(one_operator({.type = "WHILE"}, {}, {}));
  ASSERT_FALSE(made.calls.ok());
  EXPECT_EQ(made.calls.error().describe(), "subgraph 0: operator 0 WHILE: C source has no kernel for it");
  EXPECT_THAT(operators_with_calls(), Contains(Field(&OperatorTypes::type, "CONV_2D")));
}

TEST(OperatorCall, RefusesMissingOperands) {
  OneOperator one = one_operator({.type = "RESHAPE"}, {tensor({4})}, {tensor({2, 2})});
  one.model.subgraphs[0].operators[0].inputs[0].reset();
  const Calls made = calls_of(one);
  ASSERT_FALSE(made.calls.ok());
  EXPECT_EQ(made.calls.error().message, "input 0 is missing");
}

TEST(OperatorCall, RefusesHugeExtentsOfEmptyTensors) {
  constexpr std::int64_t kHuge = (std::int64_t{1} << 31) - 1;
  const Calls made = calls_of(one_operator({.type = "PACK", .options = {{"axis", std::int64_t{0}}}},
                                           {tensor({kHuge, kHuge, kHuge})}, {tensor({0, kHuge, kHuge, kHuge})}));
  ASSERT_FALSE(made.calls.ok());
  EXPECT_EQ(made.calls.error().code, ErrorCode::over_limit);
  EXPECT_EQ(calls_of(one_operator({.type = "UNPACK", .options = {{"axis", std::int64_t{0}}}},
                                  {tensor({0, kHuge, kHuge, kHuge})}, {tensor({1})}))
                .calls.error()
                .code,
            ErrorCode::over_limit);
}

TEST(OperatorCall, ReshapeCopiesBytes) {
  const Calls made = calls_of(one_operator({.type = "RESHAPE"}, {tensor({4}, 1, 0, TfliteType::int16)},
                                           {tensor({2, 2}, 1, 0, TfliteType::int16)}));
  ASSERT_TRUE(made.calls.ok());
  EXPECT_EQ(made.calls->front().kernel, "copy");
  EXPECT_EQ(integer(made.calls->front(), "bytes"), 8);
}

TEST(OperatorCall, SoftmaxHasATableOfExponentials) {
  const Calls made = calls_of(one_operator({.type = "SOFTMAX", .options = {{"beta", 1.0}}}, {tensor({1, 4}, 1.0)},
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
}  // namespace lowtide::tflite_program_tests
