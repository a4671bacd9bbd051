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

struct QuantizedCase {
  std::vector<std::int64_t> a, b, y;
  const char* a_type = "u8";
  const char* b_type = "i8";
  const char* y_type = "u8";
  bool is_per_column = true;
  bool is_transposed = false;  // of the domain "lowtide", with a bias
  float y_scale = 2;
};

Graph graph_of_case(const QuantizedCase& of) {
  const std::string columns = std::to_string(of.y.back());
  const std::string count = of.is_per_column ? "[" + columns + "]" : "[]";
  return testing::graph_of(
      "graph \"g\" {\n" + input_line("a", of.a_type + testing::text_of(of.a)) + input_line("as", "f32[]") +
      input_line("az", std::string(of.a_type) + "[]") + input_line("b", of.b_type + testing::text_of(of.b)) +
      input_line("bs", "f32" + count) + input_line("bz", of.b_type + count) + input_line("ys", "f32[]") +
      input_line("yz", std::string(of.y_type) + "[]") +
      (of.is_transposed ? input_line("c", "f32[" + columns + "]") : "") +
      " y = " + (of.is_transposed ? "lowtide::" : "") + "QLinearMatMul(a, as, az, b, bs, bz, ys, yz" +
      (of.is_transposed ? ", c) {transB = 1}" : ")") + " : " + of.y_type + testing::text_of(of.y) + "\n output y\n}");
}

// Elements that look random. Scales make results that fill the range of 8 bits.
std::vector<TensorData> operands_of_case(const Graph& graph, const QuantizedCase& of, bool has_zeros, Random& random) {
  std::vector<TensorData> reads;
  for (const std::optional<TensorId>& id : graph.node(NodeId(0)).inputs) {
    TensorData data = testing::space_for(graph, *id);
    const std::string& name = graph.tensor(*id).name;
    if (data.dtype == DType::f32) {
      data = testing::random_scales(std::move(data), name == "c", random);
      if (name == "ys") data = testing::tensor_data(DType::f32, {}, std::vector<float>{of.y_scale});
    } else {
      for (std::byte& byte : data.bytes) byte = static_cast<std::byte>(random.below(256));
      // Near the middle of the range, or there.
      const auto middle = static_cast<std::uint8_t>(data.dtype == DType::u8 ? 128 : 0);
      if (name.ends_with('z')) {
        for (std::byte& byte : data.bytes) byte = static_cast<std::byte>(middle + (has_zeros ? random.below(40) : 0));
      }
      if (name == "az" && !has_zeros) data.bytes = {std::byte{0}};
    }
    reads.push_back(std::move(data));
  }
  return reads;
}

// Rows and columns in one tile and in several, axes in front that are broadcast or become rows, all types, and a
// second matrix that is transposed.
const std::vector<QuantizedCase>& product_cases() {
  static const std::vector<QuantizedCase> kAll = {
      {.a = {5, 7}, .b = {7, 9}, .y = {5, 9}},
      {.a = {300, 96}, .b = {96, 70}, .y = {300, 70}},
      {.a = {1, 64}, .b = {64, 2000}, .y = {1, 2000}},
      {.a = {40, 1500}, .b = {1500, 330}, .y = {40, 330}, .y_scale = 30},
      {.a = {33, 1, 48}, .b = {48, 200}, .y = {33, 1, 200}, .is_per_column = false},
      {.a = {2, 3, 35, 40}, .b = {2, 1, 40, 50}, .y = {2, 3, 35, 50}, .b_type = "u8", .is_per_column = false},
      {.a = {12, 50, 32}, .b = {12, 32, 130}, .y = {12, 50, 130}, .a_type = "i8", .b_type = "u8", .y_type = "i8"},
      {.a = {20, 40}, .b = {4, 40, 16}, .y = {4, 20, 16}, .a_type = "i8"},
      {.a = {197, 128}, .b = {300, 128}, .y = {197, 300}, .is_transposed = true},
      {.a = {30, 60}, .b = {44, 60}, .y = {30, 44}, .b_type = "u8", .y_type = "i8", .is_transposed = true},
  };
  return kAll;
}

// On a processor without products of 8 bits, the kernel is not offered.
TEST(OnednnQuantizedProduct, GivesTheBitsOfThePlainKernel) {
  Random random(5);
  for (const QuantizedCase& of : product_cases()) {
    const Graph graph = graph_of_case(of);
    SCOPED_TRACE(print_graph(graph));
    const bool is_offered = offered_kernels(graph, NodeId(0)).at(0).name == "onednn.qmatmul";
    ASSERT_EQ(is_offered, has_products_of_bytes());
    for (const bool has_zeros : {false, true}) {
      const std::vector<TensorData> reads = operands_of_case(graph, of, has_zeros, random);
      const std::vector<std::byte> expected = result_of(graph, "plain", reads, 1);
      EXPECT_TRUE(testing::has_inner_values(expected));
      if (!is_offered) continue;
      for (const int threads : testing::kThreadCounts) {
        ReversedTeam team(threads);
        EXPECT_EQ(result_of(graph, "onednn.qmatmul", reads, threads, &team), expected) << threads;
        EXPECT_EQ(result_of(graph, "onednn.qmatmul", reads, threads), expected) << threads << " on one";
      }
      testing::KernelRun small(graph, "onednn.qmatmul");
      small.caches = testing::kLeastCaches;
      EXPECT_EQ(small.run(reads), RunStatus());
      EXPECT_EQ(small.writes[0].bytes, expected) << "small caches";
      ReversedTeam other(3);
      EXPECT_EQ(result_of(graph, "onednn.qmatmul", reads, 8, &other), expected) << "8 on 3";
    }
  }
}

TEST(OnednnQuantizedProduct, LeavesOtherNodesToOtherKernels) {
  const auto kernel_of = [](const std::string& a, const std::string& zero, const std::string& y) {
    const Graph graph = testing::graph_of(
        "graph \"g\" {\n input a : u8" + a + "\n input as : f32[]\n input az : u8" + zero +
        "\n input b : i8[16,8]\n input bs : f32[]\n input bz : i8[]\n" + " input ys : f32[]\n input yz : u8[]\n" +
        " y = QLinearMatMul(a, as, az, b, bs, bz, ys, yz) : u8" + y + "\n output y }");
    return offered_kernels(graph, NodeId(0)).at(0).name;
  };
  EXPECT_EQ(kernel_of("[16]", "[]", "[8]"), "plain");          // a vector
  EXPECT_EQ(kernel_of("[4,16]", "[4]", "[4,8]"), "plain");     // a zero point for each row
  EXPECT_EQ(kernel_of("[<=4,16]", "[]", "[<=4,8]"), "plain");  // rows that only the run knows
}

}  // namespace
}  // namespace lowtide
