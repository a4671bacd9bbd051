// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/conversion/onnx_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/half.h"
#include "lowtide/base/random.h"
#include "lowtide/earlier/conversion/element_bytes.h"
#include "lowtide/import/import.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> types_of(const Graph& graph) {
  std::vector<std::string> types;
  for (const Node& node : graph.nodes()) types.push_back(graph.operators()[node.op].type);
  return types;
}

TEST(OnnxBuilder, KeepsTheChannelsFirstBetweenNodes) {
  OnnxBuilder to;
  to.add_input("x", {DType::f32, {1, 4, 5, 3}});
  const std::string first = to.channels_first("x", 4);
  to.channels_last(to.make("y/first", {.type = "Relu", .inputs = {first}, .outputs = {}}), 4, "y");
  EXPECT_TRUE(to.has_channels_first("y"));
  to.channels_last(to.make("z/first", {.type = "Abs", .inputs = {to.channels_first("y", 4)}, .outputs = {}}), 4, "z");
  to.add_output("z", {DType::f32, {1, 4, 5, 3}});
  const OnnxForm form = std::move(to).finish("g");
  const auto model = import_onnx_bytes(form.model);
  ASSERT_TRUE(model) << model.error().describe();
  EXPECT_THAT(types_of(model->graph), ElementsAre("Transpose", "Relu", "Abs", "Transpose"));
}

TEST(OnnxBuilder, LeavesOutWhatNoOutputNeeds) {
  OnnxBuilder to;
  to.add_input("x", {DType::f32, {2}});
  to.add_constant("c", {DType::f32, {2}}, std::string(8, '\0'));
  to.add({.type = "Add", .inputs = {"x", "c"}, .outputs = {"unread"}});
  to.add({.type = "Relu", .inputs = {"x"}, .outputs = {"y"}});
  to.add_output("y", {DType::f32, {2}});
  to.add_output("y", {DType::f32, {2}});
  const auto model = import_onnx_bytes(std::move(to).finish("g").model);
  ASSERT_TRUE(model) << model.error().describe();
  EXPECT_THAT(types_of(model->graph), ElementsAre("Relu"));
  EXPECT_EQ(model->graph.outputs().size(), 1u);
  EXPECT_TRUE(model->constants.sources.empty());
}

TEST(OnnxBuilder, MakesEqualConstantsOnceAndNamesUnique) {
  OnnxBuilder to;
  to.reserve("list");
  const std::string one = to.integers({1, 2});
  EXPECT_EQ(one, "list_2");
  EXPECT_EQ(to.integers({1, 2}), one);
  EXPECT_NE(to.list_of(DType::i32, {1, 2}), one);
  EXPECT_NE(to.number(DType::f32, 1), to.number(DType::f16, 1));
}

// All finite values of a type of 16 bits that are not negative, ascending. The one behind them stands for infinity.
template <typename Narrow>
std::vector<double> values_of_sixteen_bits(std::uint16_t infinity) {
  std::vector<double> values;
  for (std::uint16_t bits = 0; bits < infinity; ++bits) values.push_back(to_float(Narrow{bits}));
  values.push_back(2 * values.back() - values[values.size() - 2]);
  return values;
}

// The nearest value by search, of two the one with the even bits. Bits count the values in ascending order.
std::uint16_t nearest_bits(const std::vector<double>& values, long double value) {
  const auto above = std::lower_bound(values.begin(), values.end(), value);
  const auto bits = static_cast<std::uint16_t>(std::min<std::ptrdiff_t>(above - values.begin(), values.size() - 1));
  if (bits == 0) return 0;
  const long double to_lower = value - values[bits - 1U];
  const long double to_upper = values[bits] - value;
  if (to_lower == to_upper) return bits % 2 == 0 ? bits : bits - 1;
  return to_lower < to_upper ? bits - 1 : bits;
}

std::string two_bytes(std::uint16_t bits) { return {static_cast<char>(bits & 0xFFU), static_cast<char>(bits >> 8U)}; }

// Drawn numbers, ties between two neighbors, and the f64 on both sides of each tie, which an f32 cannot tell from it.
TEST(ElementBytes, RoundOnce) {
  Random random(2026);
  for (const auto& [dtype, values] : {std::pair(DType::f16, values_of_sixteen_bits<Half>(0x7C00)),
                                      std::pair(DType::bf16, values_of_sixteen_bits<BrainFloat>(0x7F80))}) {
    for (int trial = 0; trial < 20000; ++trial) {
      const std::size_t at = random.below(values.size() - 1);
      const double tie = values[at] / 2 + values[at + 1] / 2;
      const double drawn =
          values[at] + (values[at + 1] - values[at]) * (static_cast<double>(random.below(1024)) / 1024);
      for (const double value : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, 1e300), drawn, values[at]}) {
        const std::uint16_t bits = nearest_bits(values, value);
        ASSERT_EQ(element_bytes(dtype, value), two_bytes(bits)) << to_string(dtype) << " " << value;
        ASSERT_EQ(element_bytes(dtype, -value), two_bytes(bits | 0x8000U)) << to_string(dtype) << " " << -value;
      }
      const auto whole = static_cast<std::int64_t>(random.below(std::uint64_t{1} << (1 + random.below(63))));
      ASSERT_EQ(element_bytes_of_integer(dtype, whole), two_bytes(nearest_bits(values, whole))) << whole;
    }
  }
  // 2^62 + 2^38 is a tie of f32, and an f64 does not have the 1. The same for bf16 with 2^62 + 2^54.
  constexpr std::int64_t kWhole = std::int64_t{1} << 62;
  EXPECT_EQ(element_bytes_of_integer(DType::f32, kWhole + (std::int64_t{1} << 38) + 1),
            element_bytes(DType::f32, 0x1.000002p62));
  EXPECT_EQ(element_bytes_of_integer(DType::bf16, kWhole + (std::int64_t{1} << 54) + 1),
            element_bytes(DType::bf16, 0x1.02p62));
}

TEST(OnnxBuilder, RoundsHalvesToEven) {
  EXPECT_EQ(element_bytes(DType::f16, 1), std::string("\x00\x3C", 2));
  EXPECT_EQ(element_bytes(DType::f16, 6), std::string("\x00\x46", 2));
  EXPECT_EQ(element_bytes(DType::f16, 2049), std::string("\x00\x68", 2));          // a tie to 2048
  EXPECT_EQ(element_bytes(DType::f16, 2051), std::string("\x02\x68", 2));          // a tie to 2052
  EXPECT_EQ(element_bytes(DType::f16, 65520), std::string("\x00\x7C", 2));         // infinite
  EXPECT_EQ(element_bytes(DType::f16, 5.9604645e-8), std::string("\x01\x00", 2));  // the least one
  EXPECT_EQ(element_bytes(DType::f16, 2.9802322e-8), std::string("\x00\x00", 2));  // half of it, a tie to 0
  EXPECT_EQ(element_bytes(DType::i64, -1), std::string(8, '\xFF'));
  EXPECT_EQ(element_bytes(DType::bf16, 1), std::string("\x80\x3F", 2));
  EXPECT_EQ(element_bytes(DType::bf16, -6), std::string("\xC0\xC0", 2));
  EXPECT_EQ(element_bytes(DType::bf16, 257), std::string("\x80\x43", 2));     // a tie to 256
  EXPECT_EQ(element_bytes(DType::bf16, 259), std::string("\x82\x43", 2));     // a tie to 260
  EXPECT_EQ(element_bytes(DType::bf16, 3.4e38), std::string("\x80\x7F", 2));  // infinite
}

TEST(OnnxBuilder, KeepsTheDigitsOfIntegers) {
  const std::int64_t value = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(element_bytes_of_integer(DType::i64, value), std::string("\x01\x00\x00\x00\x00\x00\x20\x00", 8));
  EXPECT_EQ(element_bytes_of_integer(DType::u64, value), element_bytes_of_integer(DType::i64, value));
  EXPECT_EQ(element_bytes_of_integer(DType::boolean, 256), std::string(1, '\1'));
  EXPECT_EQ(element_bytes_of_integer(DType::f16, 6), element_bytes(DType::f16, 6));
  EXPECT_FALSE(has_element_bytes(DType::c64));
  EXPECT_TRUE(has_element_bytes(DType::bf16));
}

TEST(OnnxBuilder, LimitsWhatAllListsHave) {
  OnnxBuilder to;
  EXPECT_FALSE(to.may_make(kMostMadeBytes / 8 + 1));
  EXPECT_TRUE(to.may_make(kMostMadeBytes / 8 - 1));
  EXPECT_TRUE(to.may_make(8, 1));
  EXPECT_FALSE(to.may_make(1, 1));
}

TEST(OnnxBuilder, MovesTheLastAxisBehindTheFirst) {
  EXPECT_THAT(extents_in_first({2, 5, 6, 3}), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(extents_in_first({2, 3}), ElementsAre(2, 3));
  EXPECT_EQ(axis_in_first(3, 4), 1);
  EXPECT_EQ(axis_in_first(1, 4), 2);
  EXPECT_EQ(axis_in_first(0, 4), 0);
  EXPECT_EQ(axis_in_first(1, 2), 1);
}

}  // namespace
}  // namespace lowtide::testing
