// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers that no converter writes: each operator is refused or becomes calls, and nothing crashes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/tflite/tflite_program/one_operator.h"

namespace lowtide::tflite_program_tests {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDenormal = std::numeric_limits<float>::denorm_min();
constexpr double kLargest = std::numeric_limits<float>::max();

TfliteOperator windowed(const std::string& type) {
  TfliteOperator op{.type = type, .options = {{"padding", std::string("SAME")}}};
  for (const char* name : {"stride_w", "stride_h", "dilation_w_factor", "dilation_h_factor"}) {
    op.options.push_back({name, std::int64_t{1}});
  }
  return op;
}

OneOperator pool(const std::string& type) {
  TfliteOperator op = windowed(type);
  op.options.push_back({"filter_width", std::int64_t{2}});
  op.options.push_back({"filter_height", std::int64_t{2}});
  return one_operator(std::move(op), {tensor({1, 2, 2, 1})}, {tensor({1, 2, 2, 1})});
}

OneOperator svdf() {
  TfliteTensor state = tensor({1, 20}, 0.5, 0, TfliteType::int16);
  state.is_variable = true;
  return one_operator({.type = "SVDF", .options = {{"rank", std::int64_t{2}}}},
                      {tensor({1, 3}), tensor({4, 3}), tensor({4, 5}, 0.5, 0, TfliteType::int16),
                       tensor({2}, 0.25, 0, TfliteType::int32), state},
                      {tensor({1, 2})});
}

OneOperator with_axes(const std::string& type) {
  OneOperator one = one_operator({.type = type}, {tensor({2, 3}), tensor({1})}, {tensor({2})});
  set_integers(one, 1, {1});
  return one;
}

OneOperator transposed() {
  OneOperator one = one_operator(windowed("TRANSPOSE_CONV"), {tensor({4}), tensor({2, 3, 3, 1}), tensor({1, 2, 2, 1})},
                                 {tensor({1, 2, 2, 2})});
  set_integers(one, 0, {1, 2, 2, 2});
  return one;
}

OneOperator padded() {
  OneOperator one = one_operator({.type = "PAD"}, {tensor({2}), tensor({1, 2})}, {tensor({4})});
  set_integers(one, 1, {1, 1});
  return one;
}

// Operators that have scales, each with numbers that are usual.
std::vector<OneOperator> usual_operators() {
  std::vector<OneOperator> all = {
      one_operator(windowed("CONV_2D"), {tensor({1, 2, 2, 1}), tensor({2, 3, 3, 1})}, {tensor({1, 2, 2, 2})}),
      one_operator(windowed("DEPTHWISE_CONV_2D"), {tensor({1, 2, 2, 2}), tensor({1, 3, 3, 2})}, {tensor({1, 2, 2, 2})}),
      one_operator({.type = "FULLY_CONNECTED"}, {tensor({1, 3}), tensor({2, 3})}, {tensor({1, 2})}),
      transposed(),
      pool("AVERAGE_POOL_2D"),
      pool("MAX_POOL_2D"),
      with_axes("MEAN"),
      with_axes("SUM"),
      with_axes("REDUCE_MAX"),
      padded(),
      one_operator({.type = "CONCATENATION",
                    .options = {{"axis", std::int64_t{0}}, {"fused_activation_function", std::string("NONE")}}},
                   {tensor({2}), tensor({2})}, {tensor({4})}),
      svdf(),
      one_operator({.type = "SOFTMAX", .options = {{"beta", 1.0}}}, {tensor({1, 4})},
                   {tensor({1, 4}, 1.0 / 256, -128)}),
      one_operator({.type = "LOGISTIC"}, {tensor({4})}, {tensor({4}, 1.0 / 256, -128)}),
      one_operator({.type = "LEAKY_RELU", .options = {{"alpha", -2.0}}}, {tensor({4})}, {tensor({4})}),
      one_operator({.type = "QUANTIZE"}, {tensor({4})}, {tensor({4}, 0.5, 0, TfliteType::int16)}),
      one_operator({.type = "QUANTIZE"}, {tensor({4}, 0.5, 0, TfliteType::int16)},
                   {tensor({4}, 0.5, 0, TfliteType::int32)})};
  for (const char* type : {"ABS", "ELU", "HARD_SWISH", "RELU", "RELU6", "TANH", "QUANTIZE"}) {
    all.push_back(one_operator({.type = type}, {tensor({4})}, {tensor({4})}));
  }
  for (const char* type : {"ADD", "SUB", "MUL", "PRELU", "SQUARED_DIFFERENCE", "MAXIMUM"}) {
    all.push_back(one_operator({.type = type, .options = {{"fused_activation_function", std::string("RELU6")}}},
                               {tensor({2, 2}), tensor({2, 2})}, {tensor({2, 2})}));
  }
  return all;
}

// A refusal of numbers, or none.
void expect_an_answer(const OneOperator& one, const std::string& what) {
  const Calls found = calls_of(one);
  if (found.calls.ok()) return;
  EXPECT_THAT(found.calls.error().code, AnyOf(ErrorCode::invalid, ErrorCode::unsupported)) << what;
  EXPECT_FALSE(found.calls.error().message.empty()) << what;
}

TEST(HostileScales, UsualOperatorsBecomeCalls) {
  for (const OneOperator& one : usual_operators()) {
    const Calls found = calls_of(one);
    EXPECT_TRUE(found.calls.ok()) << found.calls.error().describe();
  }
}

TEST(HostileScales, OfTwoTensorsGiveAnAnswer) {
  const std::vector<double> scales = {kDenormal, 1e-38, 1e-9, 1,         0x1p31,      1e30,
                                      kLargest,  0,     -1,   kInfinity, std::nan("")};
  for (const OneOperator& usual : usual_operators()) {
    for (double first : scales) {
      for (double second : scales) {
        OneOperator one = usual;
        std::vector<TfliteTensor>& tensors = one.model.subgraphs[0].tensors;
        for (TfliteTensor& tensor : tensors) tensor.quantization.scales = {first};
        tensors.back().quantization.scales = {second};
        expect_an_answer(
            one, one.model.subgraphs[0].operators[0].type + " " + std::to_string(first) + " " + std::to_string(second));
      }
    }
  }
}

TEST(HostileScales, ThatAreNoNumbersAreRefused) {
  for (double scale : {kInfinity, std::nan(""), 0.0, -1.0}) {
    for (const OneOperator& usual : usual_operators()) {
      const std::string& type = usual.model.subgraphs[0].operators[0].type;
      if (type == "MAXIMUM" || type == "PAD") continue;  // these need no scale
      OneOperator one = usual;
      one.model.subgraphs[0].tensors.back().quantization.scales = {scale};
      EXPECT_FALSE(calls_of(one).calls.ok()) << type << " " << scale;
    }
  }
}

TEST(HostileScales, FactorsFrom2To31OnAreRefused) {
  // HARD_SWISH divides floats, and the quotient is infinite.
  for (const char* type : {"HARD_SWISH", "RELU", "MUL", "QUANTIZE"}) {
    const std::size_t inputs = type == std::string("MUL") ? 2 : 1;
    const OneOperator one = one_operator({.type = type}, std::vector<TfliteTensor>(inputs, tensor({4}, kLargest)),
                                         {tensor({4}, kDenormal)});
    const Calls found = calls_of(one);
    ASSERT_FALSE(found.calls.ok()) << type;
    EXPECT_THAT(found.calls.error().message, HasSubstr("which has to be below 2^31")) << type;
  }
}

TEST(HostileScales, TooSmallToDivideByAreRefused) {
  const Calls found = calls_of(one_operator({.type = "ELU"}, {tensor({4})}, {tensor({4}, kDenormal)}));
  ASSERT_FALSE(found.calls.ok());
  EXPECT_THAT(found.calls.error().message, HasSubstr("too small to divide by"));
}

TEST(HostileZeroPoints, OutsideOfTheTypeAreRefused) {
  for (std::int64_t zero_point : {std::int64_t{128}, std::int64_t{-129}, std::numeric_limits<std::int64_t>::min()}) {
    for (const OneOperator& usual : usual_operators()) {
      const TfliteOperator& op = usual.model.subgraphs[0].operators[0];
      OneOperator one = usual;
      TfliteTensor& output = one.model.subgraphs[0].tensors.back();
      if (output.type != TfliteType::int8) continue;
      output.quantization.zero_points = {zero_point};
      const Calls found = calls_of(one);
      EXPECT_FALSE(found.calls.ok()) << op.type;
    }
  }
}

TEST(HostileZeroPoints, OfWeightsAreRefused) {
  const auto with = [](std::int64_t zero_point) {
    return calls_of(
        one_operator({.type = "FULLY_CONNECTED"}, {tensor({1, 3}), tensor({2, 3}, 0.5, zero_point)}, {tensor({1, 2})}));
  };
  EXPECT_TRUE(with(-128).calls.ok());
  ASSERT_FALSE(with(std::int64_t{1} << 32).calls.ok());
  EXPECT_EQ(with(std::int64_t{1} << 32).calls.error().message,
            "the zero point 4294967296 of tensor 't' is no number of its type INT8");
}

TEST(HostileWindows, LargeDilationsAreRefused) {
  // A step of 2^20 rows of 4096 columns has 2^32 elements.
  const auto dilated = [](std::int64_t dilation, std::int64_t taps) {
    TfliteOperator op = windowed("CONV_2D");
    op.options.back().value = dilation;
    return calls_of(
        one_operator(std::move(op), {tensor({1, 4, 4096, 1}), tensor({1, taps, 1, 1})}, {tensor({1, 4, 4096, 1})}));
  };
  EXPECT_TRUE(dilated(1 << 10, 3).calls.ok());
  ASSERT_FALSE(dilated(1 << 20, 3).calls.ok());
  EXPECT_THAT(dilated(1 << 20, 3).calls.error().message, HasSubstr("dilation 1048576"));
  const Calls alone = dilated(1 << 20, 1);  // one tap has nothing to be away from
  ASSERT_TRUE(alone.calls.ok()) << alone.calls.error().describe();
  EXPECT_EQ(integer(alone.calls->front(), "row_dilation"), 1);
}

TEST(HostileWindows, UnknownPaddingIsRefused) {
  OneOperator one = transposed();
  one.model.subgraphs[0].operators[0].options[0].value = std::string("7");
  const Calls found = calls_of(one);
  ASSERT_FALSE(found.calls.ok());
  EXPECT_THAT(found.calls.error().message, HasSubstr("neither SAME nor VALID"));
}

TEST(HostileNames, CustomOperatorsAreNotBuiltinOnes) {
  for (OneOperator one : usual_operators()) {
    one.model.subgraphs[0].operators[0].builtin = kTfliteCustom;
    const Calls found = calls_of(one);
    ASSERT_FALSE(found.calls.ok());
    EXPECT_EQ(found.calls.error().message, "C source has no kernel for it");
  }
}

}  // namespace
}  // namespace lowtide::tflite_program_tests
