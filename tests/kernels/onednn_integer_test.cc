// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "tests/kernels/onednn_convolutions.h"
#include "tests/kernels/quantized_run.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using testing::has_products_of_bytes;
using testing::input_line;
using testing::result_of;
using testing::ReversedTeam;
using testing::TensorData;

struct IntegerCase {
  std::vector<std::int64_t> x, w, y;
  std::string attributes = "group = 1";
  const char* x_type = "u8";
  const char* w_type = "i8";
  const char* y_type = "u8";
  bool is_standard = false;  // a bias of i32; otherwise of f32
  bool is_per_result = true;
  float y_scale = 3;
};

Graph graph_of_case(const IntegerCase& of) {
  const std::string count = of.is_per_result ? "[" + std::to_string(of.w[0]) + "]" : "[]";
  return testing::graph_of(
      "graph \"g\" {\n" + input_line("x", of.x_type + testing::text_of(of.x)) + input_line("xs", "f32[]") +
      input_line("xz", std::string(of.x_type) + "[]") + input_line("w", of.w_type + testing::text_of(of.w)) +
      input_line("ws", "f32" + count) + input_line("wz", of.w_type + count) + input_line("ys", "f32[]") +
      input_line("yz", std::string(of.y_type) + "[]") +
      input_line("b", (of.is_standard ? "i32[" : "f32[") + std::to_string(of.w[0]) + "]") +
      " y = " + (of.is_standard ? "" : "lowtide::") + "QLinearConv(x, xs, xz, w, ws, wz, ys, yz, b) {" + of.attributes +
      "} : " + of.y_type + testing::text_of(of.y) + "\n output y\n}");
}

// Elements that look random. Scales make results that fill the range of 8 bits.
std::vector<TensorData> operands_of_case(const Graph& graph, float y_scale, Random& random) {
  std::vector<TensorData> reads;
  for (const std::optional<TensorId>& id : graph.node(NodeId(0)).inputs) {
    TensorData data = testing::space_for(graph, *id);
    const std::string& name = graph.tensor(*id).name;
    if (data.dtype == DType::f32) {
      data = testing::random_scales(std::move(data), name == "b", random);
      if (name == "ys") data = testing::tensor_data(DType::f32, {}, std::vector<float>{y_scale});
    } else if (data.dtype == DType::i32) {
      std::vector<std::int32_t> values(data.bytes.size() / sizeof(std::int32_t));
      for (std::int32_t& value : values) value = static_cast<std::int32_t>(random.between(-20'000, 20'000));
      data = testing::tensor_data(DType::i32, data.extents, values);
    } else {
      for (std::byte& byte : data.bytes) byte = static_cast<std::byte>(random.below(256));
    }
    reads.push_back(std::move(data));
  }
  return reads;
}

// 1 x 1, 3 x 3 with padding, strides, groups, dilations, one spatial axis, several tiles and several images.
const std::vector<IntegerCase>& integer_cases() {
  static const std::vector<IntegerCase> kAll = {
      {.x = {1, 64, 14, 14}, .w = {32, 64, 1, 1}, .y = {1, 32, 14, 14}},
      {.x = {1, 24, 17, 15}, .w = {40, 24, 3, 3}, .y = {1, 40, 17, 15}, .attributes = "pads = [1, 1, 1, 1]"},
      {.x = {2, 32, 21, 21},
       .w = {48, 32, 3, 3},
       .y = {2, 48, 11, 11},
       .attributes = "pads = [1, 1, 1, 1], strides = [2, 2]",
       .x_type = "i8",
       .y_type = "i8"},
      {.x = {1, 32, 20, 20},
       .w = {32, 8, 5, 3},
       .y = {1, 32, 14, 18},
       .attributes = "group = 4, dilations = [2, 1], pads = [1, 0, 1, 0]",
       .w_type = "u8",
       .is_standard = true},
      {.x = {1, 16, 500}, .w = {16, 16, 7}, .y = {1, 16, 250}, .attributes = "pads = [3, 2], strides = [2]"},
      {.x = {1, 3, 64, 64},
       .w = {32, 3, 7, 7},
       .y = {1, 32, 32, 32},
       .attributes = "pads = [3, 3, 3, 3], strides = [2, 2]",
       .is_standard = true,
       .is_per_result = false},
      {.x = {1, 512, 7, 7},
       .w = {64, 512, 3, 3},
       .y = {1, 64, 7, 7},
       .attributes = "pads = [1, 1, 1, 1]",
       .y_scale = 100},
  };
  return kAll;
}

TEST(OnednnQuantizedConvolution, GivesTheBitsOfThePlainKernel) {
  if (!has_products_of_bytes()) GTEST_SKIP() << "the processor has no products of 8 bits";
  Random random(3);
  for (const IntegerCase& of : integer_cases()) {
    const Graph graph = graph_of_case(of);
    SCOPED_TRACE(print_graph(graph));
    ASSERT_EQ(offered_kernels(graph, NodeId(0)).at(0).name, "onednn.qconv");
    const std::vector<TensorData> reads = operands_of_case(graph, of.y_scale, random);
    const std::vector<std::byte> expected = result_of(graph, "plain", reads, 1);
    EXPECT_TRUE(testing::has_inner_values(expected));
    for (const int threads : testing::kThreadCounts) {
      ReversedTeam team(threads);
      EXPECT_EQ(result_of(graph, "onednn.qconv", reads, threads, &team), expected) << threads;
      EXPECT_EQ(result_of(graph, "onednn.qconv", reads, threads), expected) << threads << " on one";
      EXPECT_EQ(team.calls > 0, threads > 1);
    }
    testing::KernelRun small(graph, "onednn.qconv");
    small.caches = testing::kLeastCaches;
    EXPECT_EQ(small.run(reads), RunStatus());
    EXPECT_EQ(small.writes[0].bytes, expected) << "small caches";
    ReversedTeam other(3);
    EXPECT_EQ(result_of(graph, "onednn.qconv", reads, 8, &other), expected) << "8 on 3";
  }
}

TEST(OnednnQuantizedConvolution, LeavesOtherNodesToOtherKernels) {
  const IntegerCase depthwise{.x = {1, 16, 9, 9}, .w = {16, 1, 3, 3}, .y = {1, 16, 7, 7}, .attributes = "group = 16"};
  const IntegerCase automatic{
      .x = {1, 16, 9, 9}, .w = {16, 16, 3, 3}, .y = {1, 16, 9, 9}, .attributes = "auto_pad = \"SAME_UPPER\""};
  for (const IntegerCase& of : {depthwise, automatic}) {
    EXPECT_EQ(offered_kernels(graph_of_case(of), NodeId(0)).at(0).name, "plain");
  }
}

}  // namespace
}  // namespace lowtide
