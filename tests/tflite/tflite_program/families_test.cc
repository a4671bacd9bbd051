// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/tflite/tflite_program/one_operator.h"

namespace lowtide::tflite_program_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// The calls of an operator that is supported.
std::vector<CCall> made(const OneOperator& one) {
  Calls found = calls_of(one);
  EXPECT_TRUE(found.calls.ok()) << found.calls.error().describe();
  return found.calls.ok() ? *found.calls : std::vector<CCall>{};
}

std::string refusal(const OneOperator& one) {
  const Calls found = calls_of(one);
  return found.calls.ok() ? "" : found.calls.error().message;
}

// Entry i is for the number i - 128.
std::vector<int> table_of(const OneOperator& one) {
  const Calls found = calls_of(one);
  EXPECT_TRUE(found.calls.ok()) << found.calls.error().describe();
  std::vector<int> table;
  if (!found.calls.ok()) return std::vector<int>(256);
  for (int x = -128; x < 128; ++x) {
    table.push_back(static_cast<std::int8_t>(found.constants.at(0).bytes.at(static_cast<unsigned char>(x))));
  }
  return table;
}

TEST(Movements, ConcatenationPutsPartsIntoTheirPlaces) {
  // Columns 2 and 3 of 5, in 4 rows: pieces of 2 and 3 bytes, 5 bytes apart.
  const std::vector<CCall> calls =
      made(one_operator({.type = "CONCATENATION",
                         .options = {{"axis", std::int64_t{-1}}, {"fused_activation_function", std::string("NONE")}}},
                        {tensor({4, 2}), tensor({4, 3})}, {tensor({4, 5})}));
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(calls[1].kernel, "move");
  EXPECT_EQ(integer(calls[1], "bytes"), 3);
  EXPECT_THAT(integers(calls[1], "counts"), ElementsAre(1, 1, 1, 1, 4));
  EXPECT_THAT(integers(calls[1], "input_steps"), ElementsAre(0, 0, 0, 0, 3));
  EXPECT_THAT(integers(calls[1], "output_steps"), ElementsAre(0, 0, 0, 0, 5));
  EXPECT_EQ(integer(calls[1], "output_start"), 2);
}

TEST(Movements, ConcatenationOfTheFirstAxisIsOnePiece) {
  const std::vector<CCall> calls =
      made(one_operator({.type = "CONCATENATION",
                         .options = {{"axis", std::int64_t{0}}, {"fused_activation_function", std::string("NONE")}}},
                        {tensor({2, 3}), tensor({4, 3})}, {tensor({6, 3})}));
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(integer(calls[1], "bytes"), 12);
  EXPECT_EQ(integer(calls[1], "output_start"), 6);
}

TEST(Movements, ConcatenationNeedsPartsThatFill) {
  EXPECT_THAT(
      refusal(one_operator({.type = "CONCATENATION",
                            .options = {{"axis", std::int64_t{0}}, {"fused_activation_function", std::string("NONE")}}},
                           {tensor({2, 3}), tensor({3, 3})}, {tensor({6, 3})})),
      HasSubstr("do not fill"));
}

TEST(Movements, TransposeFollowsTheOrderOfAxes) {
  OneOperator one = one_operator({.type = "TRANSPOSE"}, {tensor({2, 3, 4}), tensor({3})}, {tensor({4, 2, 3})});
  set_integers(one, 1, {2, 0, 1});
  const std::vector<CCall> calls = made(one);
  ASSERT_THAT(calls, SizeIs(1));
  // Axes 0 and 1 stay neighbors, so one loop goes through their 6 elements.
  EXPECT_THAT(integers(calls[0], "counts"), ElementsAre(1, 1, 1, 4, 6));
  EXPECT_THAT(integers(calls[0], "input_steps"), ElementsAre(0, 0, 0, 1, 4));
  EXPECT_THAT(integers(calls[0], "output_steps"), ElementsAre(0, 0, 0, 6, 1));
  set_integers(one, 1, {2, 2, 1});
  EXPECT_THAT(refusal(one), HasSubstr("does not fit"));
}

TEST(Movements, PadFillsWithTheZeroPoint) {
  OneOperator one = one_operator({.type = "PAD"}, {tensor({2, 3}, 0.5, -7), tensor({4})}, {tensor({4, 4}, 0.5, -7)});
  set_integers(one, 1, {1, 1, 0, 1});
  const Calls found = calls_of(one);
  ASSERT_TRUE(found.calls.ok()) << found.calls.error().describe();
  ASSERT_THAT(*found.calls, SizeIs(2));
  EXPECT_EQ((*found.calls)[0].kernel, "fill");
  EXPECT_EQ(integer((*found.calls)[0], "count"), 16);
  EXPECT_EQ(found.constants.at(0).bytes, std::string(1, static_cast<char>(-7)));
  EXPECT_EQ(integer((*found.calls)[1], "bytes"), 3);
  EXPECT_EQ(integer((*found.calls)[1], "output_start"), 4);
  set_integers(one, 1, {1, 1, 1, 1});
  EXPECT_THAT(refusal(one), HasSubstr("does not fit"));
}

TEST(Movements, StridedSliceGoesBackwards) {
  // Places 4, 2 and 0 of 5.
  OneOperator one = one_operator({.type = "STRIDED_SLICE", .options = {{"end_mask", std::int64_t{1}}}},
                                 {tensor({5}), tensor({1}), tensor({1}), tensor({1})}, {tensor({3})});
  set_integers(one, 1, {-1});
  set_integers(one, 2, {0});
  set_integers(one, 3, {-2});
  const std::vector<CCall> calls = made(one);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(integer(calls[0], "input_start"), 4);
  EXPECT_EQ(integers(calls[0], "counts").back(), 3);
  EXPECT_EQ(integers(calls[0], "input_steps").back(), -2);
  EXPECT_EQ(integers(calls[0], "output_steps").back(), 1);
}

TEST(Movements, SlicesStayInsideOfTheirInput) {
  OneOperator one = one_operator({.type = "SLICE"}, {tensor({5}), tensor({1}), tensor({1})}, {tensor({3})});
  set_integers(one, 1, {2});
  set_integers(one, 2, {3});
  EXPECT_EQ(refusal(one), "");
  set_integers(one, 1, {3});
  EXPECT_THAT(refusal(one), HasSubstr("does not fit"));
  set_integers(one, 1, {-1});
  EXPECT_THAT(refusal(one), HasSubstr("does not fit"));
}

TEST(Movements, NeedConstantsThatSayWhat) {
  const OneOperator one = one_operator({.type = "SLICE"}, {tensor({5}), tensor({1}), tensor({1})}, {tensor({3})});
  EXPECT_EQ(refusal(one), "input 1 is computed; only a constant is supported");
}

TEST(Binaries, OperandsAreRepeated) {
  // [2, 3, 4] + [3, 1]: the second goes on after 4 elements, and begins again after 12.
  const std::vector<CCall> calls =
      made(one_operator({.type = "ADD", .options = {{"fused_activation_function", std::string("NONE")}}},
                        {tensor({2, 3, 4}), tensor({3, 1})}, {tensor({2, 3, 4})}));
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_THAT(integers(calls[0], "counts"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(integers(calls[0], "first_steps"), ElementsAre(0, 12, 4, 1));
  EXPECT_THAT(integers(calls[0], "second_steps"), ElementsAre(0, 0, 1, 0));
}

TEST(Binaries, OperandsOfOneShapeAreOneRow) {
  const std::vector<CCall> calls =
      made(one_operator({.type = "MUL", .options = {{"fused_activation_function", std::string("NONE")}}},
                        {tensor({2, 3, 4}), tensor({2, 3, 4})}, {tensor({2, 3, 4})}));
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_THAT(integers(calls[0], "counts"), ElementsAre(1, 1, 1, 24));
  EXPECT_THAT(integers(calls[0], "second_steps"), ElementsAre(0, 0, 0, 1));
  // 0.5 * 0.5 / 0.5 is 2^30 with shift 0.
  EXPECT_EQ(integer(calls[0], "multiplier"), 1 << 30);
  EXPECT_EQ(integer(calls[0], "shift"), 0);
}

TEST(Binaries, OperandsThatDoNotFitAreRefused) {
  EXPECT_THAT(refusal(one_operator({.type = "MAXIMUM"}, {tensor({2, 3}), tensor({2})}, {tensor({2, 3})})),
              HasSubstr("do not give output [2, 3]"));
}

TEST(Reductions, MeanGoesThroughTheOtherAxes) {
  OneOperator one =
      one_operator({.type = "MEAN"}, {tensor({1, 4, 5, 3}, 0.5, 2), tensor({2})}, {tensor({1, 3}, 0.5, -1)});
  set_integers(one, 1, {1, -2});
  const std::vector<CCall> calls = made(one);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_THAT(integers(calls[0], "kept_counts"), ElementsAre(1, 1, 3));
  EXPECT_THAT(integers(calls[0], "kept_steps"), ElementsAre(0, 0, 1));
  EXPECT_THAT(integers(calls[0], "counts"), ElementsAre(1, 1, 20));
  EXPECT_THAT(integers(calls[0], "steps"), ElementsAre(0, 0, 3));
  EXPECT_EQ(integer(calls[0], "zero_points"), 40);
  // 1/20 is 2^30 * 16 / 20 with shift 1 - 4.
  EXPECT_EQ(integer(calls[0], "multiplier"), (1 << 30) / 20 * 16 + (1 << 30) % 20 * 16 / 20);
  EXPECT_EQ(integer(calls[0], "shift"), -3);
}

TEST(Lookups, ReluKeepsWhatIsAboveZero) {
  const std::vector<int> table =
      table_of(one_operator({.type = "RELU"}, {tensor({4}, 0.5, 10)}, {tensor({4}, 1.0, -20)}));
  EXPECT_EQ(table[128 + 10], -20);  // 0
  EXPECT_EQ(table[128 + 30], -10);  // 10
  EXPECT_EQ(table[128 - 30], -20);  // -20
}

TEST(Lookups, LogisticIsTheLogisticFunction) {
  const std::vector<int> table =
      table_of(one_operator({.type = "LOGISTIC"}, {tensor({4}, 0.0625)}, {tensor({4}, 1.0 / 256, -128)}));
  EXPECT_EQ(table[128], 0);         // 1/2
  EXPECT_EQ(table[128 + 16], 59);   // 1 / (1 + exp(-1)) = 187.15 / 256
  EXPECT_EQ(table[128 - 16], -59);  // 68.85 / 256
  EXPECT_EQ(table[255], 127);
}

TEST(Lookups, TablesAreSharedByBytesOfAnySign) {
  // Entry 255 of the constant is for -1.
  const Calls found = calls_of(one_operator({.type = "ABS"}, {tensor({4})}, {tensor({4})}));
  ASSERT_TRUE(found.calls.ok());
  EXPECT_EQ(found.constants.at(0).bytes.at(255), 1);
  EXPECT_EQ(found.constants.at(0).bytes.at(128), 127);  // 128 is above the largest number
  EXPECT_EQ(found.calls->front().kernel, "lookup_8");
}

TEST(Lookups, BytesWithoutSignAreQuantized) {
  const Calls found =
      calls_of(one_operator({.type = "QUANTIZE"}, {tensor({4}, 0.5, -128)}, {tensor({4}, 0.5, 0, TfliteType::uint8)}));
  ASSERT_TRUE(found.calls.ok()) << found.calls.error().describe();
  EXPECT_EQ(static_cast<unsigned char>(found.constants.at(0).bytes.at(0)), 128);  // 0 is 128 above -128
  EXPECT_EQ(static_cast<unsigned char>(found.constants.at(0).bytes.at(128)), 0);
}

TfliteTensor variable(std::vector<std::int64_t> shape) {
  TfliteTensor made = tensor(std::move(shape), 0.5, 0, TfliteType::int16);
  made.is_variable = true;
  return made;
}

TEST(Memories, SvdfHasAStateOfItsSize) {
  const auto svdf = [](std::int64_t memory) {
    return one_operator({.type = "SVDF", .options = {{"rank", std::int64_t{2}}}},
                        {tensor({1, 3}), tensor({4, 3}), tensor({4, 5}, 0.5, 0, TfliteType::int16),
                         tensor({2}, 0.25, 0, TfliteType::int32), variable({1, memory})},
                        {tensor({1, 2})});
  };
  const std::vector<CCall> calls = made(svdf(20));
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].kernel, "svdf_i8_i16");
  EXPECT_EQ(integer(calls[0], "units"), 2);
  EXPECT_THAT(refusal(svdf(19)), HasSubstr("do not fit together"));
}

TEST(Memories, SvdfNeedsAStateThatIsAVariable) {
  TfliteTensor computed = variable({1, 20});
  computed.is_variable = false;
  EXPECT_THAT(refusal(one_operator({.type = "SVDF", .options = {{"rank", std::int64_t{2}}}},
                                   {tensor({1, 3}), tensor({4, 3}), tensor({4, 5}, 0.5, 0, TfliteType::int16),
                                    tensor({2}, 0.25, 0, TfliteType::int32), computed},
                                   {tensor({1, 2})})),
              HasSubstr("not a variable tensor"));
}

TEST(Resizes, NearestRoundsDown) {
  OneOperator one =
      one_operator({.type = "RESIZE_NEAREST_NEIGHBOR"}, {tensor({1, 2, 3, 4}), tensor({2})}, {tensor({1, 4, 2, 4})});
  set_integers(one, 1, {4, 2});
  const Calls found = calls_of(one);
  ASSERT_TRUE(found.calls.ok()) << found.calls.error().describe();
  EXPECT_THAT(words(found.constants.at(0)), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(words(found.constants.at(1)), ElementsAre(0, 1));
  EXPECT_EQ(integer(found.calls->front(), "bytes"), 4);
}

TEST(Resizes, BilinearHasWeightsOutOf1024) {
  OneOperator one =
      one_operator({.type = "RESIZE_BILINEAR"}, {tensor({1, 2, 2, 1}), tensor({2})}, {tensor({1, 4, 2, 1})});
  set_integers(one, 1, {4, 2});
  const Calls found = calls_of(one);
  ASSERT_TRUE(found.calls.ok()) << found.calls.error().describe();
  // Rows 0, 1/2, 1 and 3/2.
  EXPECT_THAT(words(found.constants.at(0)), ElementsAre(0, 0, 0, 0, 1, 512, 1, 1, 0, 1, 1, 512));
}

}  // namespace
}  // namespace lowtide::tflite_program_tests
