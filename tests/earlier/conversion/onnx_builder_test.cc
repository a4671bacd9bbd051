// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/conversion/onnx_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
