// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "lowtide/tflite/tflite_program/operator_call.h"
#include "tests/tflite/tflite_program/one_operator.h"

namespace lowtide::tflite_program_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TfliteTensor floats(std::vector<std::int64_t> shape) {
  TfliteTensor made = tensor(std::move(shape), 0, 0, TfliteType::float32);
  made.quantization = {};
  return made;
}

// The calls of an operator whose input `constant` is the constant 0, 1, 2, ... of the program.
Calls calls_with_constant(const OneOperator& one, std::size_t constant) {
  std::vector<COperand> operands(one.model.subgraphs[0].tensors.size(), CTensorIndex{0});
  std::vector<float> values(64);
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = static_cast<float>(at);
  std::size_t count = 1;
  for (const std::int64_t extent : one.model.subgraphs[0].tensors[constant].shape) {
    count *= static_cast<std::size_t>(extent);
  }
  values.resize(count);
  std::vector<CConstant> constants = {{.type = CType::float32}};
  constants[0].bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  operands[constant] = CConstantIndex{0};
  Result<std::vector<CCall>> calls = calls_of_operator({one.model, one.file, 0, 0}, operands, constants);
  return {std::move(calls), std::move(constants)};
}

std::vector<float> floats_in(const CConstant& constant) {
  std::vector<float> values(constant.bytes.size() / sizeof(float));
  std::memcpy(values.data(), constant.bytes.data(), values.size() * sizeof(float));
  return values;
}

TfliteOperator windowed(const std::string& type, std::int64_t stride, const std::string& activation = "NONE") {
  return {.type = type,
          .options = {{"padding", std::string("VALID")},
                      {"stride_w", stride},
                      {"stride_h", stride},
                      {"fused_activation_function", activation}}};
}

TEST(FloatFamilies, WeightsAreInBlocksOfEightChannels) {
  // Two outputs of two inputs: the lanes of each input are outputs 0 and 1, and the rest is 0.
  const Calls made =
      calls_with_constant(one_operator(windowed("CONV_2D", 1, "RELU6"), {floats({1, 2, 3, 2}), floats({2, 1, 1, 2})},
                                       {floats({1, 2, 3, 2})}),
                          1);
  ASSERT_TRUE(made.calls.ok()) << made.calls.error().describe();
  ASSERT_THAT(*made.calls, SizeIs(1));
  const CCall& call = made.calls->front();
  EXPECT_EQ(call.kernel, "conv_2d_nhwc_f32");
  EXPECT_EQ(integer(call, "output_columns"), 6);  // rows are one after another
  EXPECT_EQ(integer(call, "limits"), 2);
  EXPECT_THAT(floats_in(made.constants.at(1)), ElementsAre(0, 2, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0));
}

TEST(FloatFamilies, TransposedConvolutionsAreOnesPerPhase) {
  // Stride 2 and 3 taps: even places of the output have taps 2 and 0, odd ones tap 1.
  OneOperator one = one_operator(windowed("TRANSPOSE_CONV", 2),
                                 {tensor({4}), floats({1, 1, 3, 1}), floats({1, 1, 2, 1})}, {floats({1, 1, 5, 1})});
  set_integers(one, 0, {1, 1, 5, 1});
  const Calls made = calls_with_constant(one, 1);
  ASSERT_TRUE(made.calls.ok()) << made.calls.error().describe();
  ASSERT_THAT(*made.calls, SizeIs(2));
  EXPECT_EQ(integer((*made.calls)[0], "output_columns"), 3);
  EXPECT_EQ(integer((*made.calls)[0], "left"), 1);
  EXPECT_EQ(integer((*made.calls)[0], "output_column_step"), 2);
  EXPECT_EQ(floats_in(made.constants.at(1)).at(0), 2);
  EXPECT_EQ(floats_in(made.constants.at(1)).at(8), 0);
  EXPECT_EQ(integer((*made.calls)[1], "output_columns"), 2);
  EXPECT_EQ(integer((*made.calls)[1], "output_start"), 1);
  EXPECT_EQ(floats_in(made.constants.at(2)).at(0), 1);
}

TEST(FloatFamilies, ActivationsOfSumsAreCallsOfTheirOwn) {
  const Calls made =
      calls_of(one_operator({.type = "ADD", .options = {{"fused_activation_function", std::string("RELU_N1_TO_1")}}},
                            {floats({2, 3}), floats({3})}, {floats({2, 3})}));
  ASSERT_TRUE(made.calls.ok()) << made.calls.error().describe();
  ASSERT_THAT(*made.calls, SizeIs(2));
  EXPECT_EQ((*made.calls)[0].kernel, "add_f32");
  EXPECT_EQ((*made.calls)[1].kernel, "clip_f32");
}

TEST(FloatFamilies, RefuseWhatTheyWouldComputeWrong) {
  const auto refusal = [](const OneOperator& one) {
    const Calls made = calls_of(one);
    return made.calls.ok() ? "" : made.calls.error().message;
  };
  EXPECT_THAT(refusal(one_operator(windowed("MAX_POOL_2D", 1, "TANH"), {floats({1, 2, 2, 1})}, {floats({1, 2, 2, 1})})),
              HasSubstr("window"));
  EXPECT_THAT(refusal(one_operator({.type = "ADD", .options = {{"fused_activation_function", std::string("TANH")}}},
                                   {floats({2}), floats({2})}, {floats({2})})),
              HasSubstr("its activation TANH has no kernel"));
  EXPECT_THAT(refusal(one_operator(windowed("CONV_2D", 1), {floats({1, 2, 2, 1}), tensor({1, 1, 1, 1})},
                                   {floats({1, 2, 2, 1})})),
              HasSubstr("input 1"));
}

// "FLOAT32, INT8"
std::string types_text(const std::vector<TfliteType>& types) {
  std::string text;
  for (const TfliteType type : types) text += (text.empty() ? "" : ", ") + std::string(to_string(type));
  return text.empty() ? "all types" : text;
}

TEST(Operators, AreListedInTheDocumentWithTheirTypes) {
  const std::filesystem::path root = std::filesystem::path(LOWTIDE_TEST_FILES).parent_path().parent_path();
  std::ifstream file(root / "docs/microcontrollers.md");
  std::string document{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::ranges::replace(document, '\n', ' ');
  for (std::size_t at = document.find("  "); at != std::string::npos; at = document.find("  ")) document.erase(at, 1);
  std::map<std::string, std::string> listed;
  for (const OperatorTypes& one : operators_with_calls()) {
    std::string& names = listed[types_text(one.elements)];
    names += (names.empty() ? "" : ", ") + std::string(one.type);
  }
  for (const auto& [types, names] : listed) EXPECT_THAT(document, HasSubstr("- " + types + ": " + names + "."));
}

}  // namespace
}  // namespace lowtide::tflite_program_tests
