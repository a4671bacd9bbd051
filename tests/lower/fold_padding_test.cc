// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/fold_padding.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/graph/text.h"
#include "tests/testing/after_pass.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

void expect_padding_folded(std::string_view text, std::string_view expected) {
  const Graph graph = testing::graph_of(text);
  EXPECT_EQ(print_graph(testing::after_pass(graph, fold_padding(graph))), print_graph(testing::graph_of(expected)));
}

// 1 row above and 2 below, 3 columns before and 4 behind.
constexpr std::string_view kPooled = R"(graph "g" {
  input x : f32[1,3,8,8]
  constant pads : i64[8] = [0, 0, 1, 3, 0, 0, 2, 4]
  p = Pad(x, pads) "pad" : f32[1,3,11,15]
  y = AveragePool(p) "pool" {kernel_shape = [5, 7]} : f32[1,3,7,9]
  output y
})";

std::string pooled_with(std::string_view words, std::string_view others) {
  std::string text(kPooled);
  return text.replace(text.find(words), words.size(), others);
}

TEST(FoldPadding, CountsTheZerosOfAPool) {
  expect_padding_folded(kPooled, R"(graph "g" {
  input x : f32[1,3,8,8]
  y = AveragePool(x) "pool" {kernel_shape = [5, 7], pads = [1, 3, 2, 4], count_include_pad = 1} : f32[1,3,7,9]
  output y
})");
  const std::optional<Rewritten> rewritten = fold_padding(testing::graph_of(kPooled)).value();
  ASSERT_TRUE(rewritten);
  EXPECT_EQ(rewritten->origins.nodes[NodeId(0)], (std::vector<NodeId>{NodeId(0), NodeId(1)}));
}

// One Pad, and two convolutions that read it.
std::string read_twice(std::string_view second, std::string_view result) {
  return R"(graph "g" {
  input x : f32[1,3,8,8]
  constant w : f32[4,3,5,3]
  constant v : )" +
         std::string(second) + R"(
  p = Pad(x) {pads = [0, 0, 1, 1, 0, 0, 1, 1], mode = "constant", value = 0.0} : f32[1,3,10,10]
  y = Conv(p, w) "first" {pads = [1, 1, 1, 1], auto_pad = "NOTSET"} : f32[1,4,8,10]
  z = Conv(p, v) "second" {auto_pad = "VALID", dilations = [2, 2]} : )" +
         std::string(result) + R"(
  output y, z
})";
}

TEST(FoldPadding, AddsToThePadsOfEachReader) {
  expect_padding_folded(read_twice("f32[4,3,2,2]", "f32[1,4,8,8]"), R"(graph "g" {
  input x : f32[1,3,8,8]
  constant w : f32[4,3,5,3]
  constant v : f32[4,3,2,2]
  y = Conv(x, w) "first" {pads = [2, 2, 2, 2]} : f32[1,4,8,10]
  z = Conv(x, v) "second" {dilations = [2, 2], pads = [1, 1, 1, 1]} : f32[1,4,8,8]
  output y, z
})");
  // The second window has one row, so no row of it may be outside.
  const std::string thin = read_twice("f32[4,3,1,2]", "f32[1,4,10,8]");
  expect_padding_folded(thin, thin);
}

TEST(FoldPadding, KeepsWhatItMustNotFold) {
  for (const auto& [words, others] : {
           std::pair("[0, 0, 1, 3, 0, 0, 2, 4]", "[0, 0, 1, 3, 0, 0, 5, 1]"),   // as many as the window has
           std::pair("[0, 0, 1, 3, 0, 0, 2, 4]", "[0, 0, -1, 3, 0, 0, 4, 4]"),  // cuts a row
           std::pair(" = [0, 0, 1, 3, 0, 0, 2, 4]", ""),                        // not known
           std::pair("Pad(x, pads) \"pad\"", "Pad(x, pads) \"pad\" {mode = \"edge\"}"),
           std::pair("Pad(x, pads) \"pad\"", "Pad(x, pads) \"pad\" {value = 1.0}"),
           std::pair("{kernel_shape = [5, 7]}", "{kernel_shape = [5, 7], ceil_mode = 1}"),
           std::pair("{kernel_shape = [5, 7]}", "{kernel_shape = [5, 7], auto_pad = \"SAME_UPPER\"}"),
           std::pair("{kernel_shape = [5, 7]}", "{kernel_shape = [5, 7], pads = [0, 0, 1, 0]}"),  // these do not count
           std::pair("AveragePool(p)", "MaxPool(p)"),  // zeros could be the largest
           std::pair("output y", "output y, p"),
           std::pair("output y", "z = Relu(p) : f32[1,3,11,15]\n output y, z"),
           std::pair("\"pool\" {", "\"pool\" after (p) {"),
       }) {
    const std::string text = pooled_with(words, others);
    expect_padding_folded(text, text);
  }
}

// The value is a constant, whose bytes are in the table.
TEST(FoldPadding, ReadsTheValueFromTheTable) {
  std::string text = pooled_with("constant pads", "constant value : f32[]\n  constant pads");
  text.replace(text.find("Pad(x, pads)"), 12, "Pad(x, pads, value)");
  const Graph graph = testing::graph_of(text);
  EXPECT_FALSE(fold_padding(graph).value());  // no table
  for (const bool is_zero : {true, false}) {
    GraphBuilder builder("g");
    const TensorId x =
        builder.add_tensor({.name = "x", .dtype = DType::f32, .shape = Shape({1, 3, 8, 8})}, Role::input);
    const TensorId pads =
        builder.add_tensor({.name = "pads", .dtype = DType::i64, .shape = Shape({8})}, Role::constant);
    builder.set_known_integers(pads, {0, 0, 1, 3, 0, 0, 2, 4});
    const TensorId value = builder.add_tensor(
        {.name = "value", .dtype = DType::f32, .shape = Shape(std::vector<std::int64_t>()), .constant = ConstantId(0)},
        Role::constant);
    const TensorId p = builder.add_tensor({.name = "p", .dtype = DType::f32, .shape = Shape({1, 3, 11, 15})});
    const TensorId y = builder.add_tensor({.name = "y", .dtype = DType::f32, .shape = Shape({1, 3, 7, 9})});
    builder.add_node({.name = "pad", .type = "Pad", .inputs = {x, pads, value}, .outputs = {p}});
    builder.add_node({.name = "pool",
                      .type = "AveragePool",
                      .inputs = {p},
                      .outputs = {y},
                      .attributes = {{"kernel_shape", std::vector<std::int64_t>{5, 7}}}});
    builder.set_outputs({y});
    ConstantTable table;
    std::vector<std::byte> bytes(4);
    if (!is_zero) bytes[3] = std::byte{0x3F};  // 0.5
    table.sources.push_back(
        {.name = "value", .dtype = DType::f32, .size = Bytes(4), .where = ConstantSource::Inline{bytes}});
    const Result<Graph> built = std::move(builder).build();
    ASSERT_TRUE(built.ok()) << built.error().describe();
    EXPECT_EQ(testing::after_pass(*built, fold_padding(*built, &table)).nodes().size(), is_zero ? 1U : 2U);
  }
}

}  // namespace
}  // namespace lowtide
