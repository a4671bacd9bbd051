// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "lowtide/kernels/cpu_target.h"
#include "tests/kernels/onednn_convolutions.h"
#include "tests/kernels/product_kernel.h"

namespace lowtide {
namespace {

using testing::Floats;
using ::testing::HasSubstr;

struct ProductCase {
  std::string node;  // with its attributes
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;
  std::vector<std::int64_t> y;
  std::int64_t bias = 0;  // columns; 0: none

  [[nodiscard]] Graph graph() const {
    const std::string third = bias == 0 ? "" : "  constant c : f32" + testing::text_of({bias}) + "\n";
    return testing::graph_of("graph \"g\" {\n  input a : f32" + testing::text_of(a) + "\n  constant b : f32" +
                             testing::text_of(b) + "\n" + third + "  y = " + node + " : f32" + testing::text_of(y) +
                             "\n  output y\n}");
  }
};

// An element of a matrix that may be stored transposed.
double at(const Floats& values, std::int64_t first, std::int64_t row, std::int64_t column,
          std::pair<std::int64_t, bool> width) {
  return values[static_cast<std::size_t>(first +
                                         (width.second ? column * width.first + row : row * width.first + column))];
}

void expect_products(const ProductCase& given, bool is_left_transposed, bool is_right_transposed) {
  SCOPED_TRACE(given.node);
  const Graph graph = given.graph();
  const std::int64_t rows = given.y[given.y.size() - 2];
  const std::int64_t columns = given.y.back();
  const std::int64_t inner = is_left_transposed ? given.a[given.a.size() - 2] : given.a.back();
  const std::int64_t batch = *element_count(Shape(given.y)) / (rows * columns);
  const std::int64_t batch_a = *element_count(Shape(given.a)) / (rows * inner);
  const std::int64_t batch_b = *element_count(Shape(given.b)) / (inner * columns);
  const Floats a = testing::numbers(batch_a * rows * inner, 1);
  const Floats b = testing::numbers(batch_b * inner * columns, 2);
  const Floats c = testing::numbers(given.bias, 3);
  std::vector<testing::TensorData> reads = {testing::floats(Shape(given.a), a), testing::floats(Shape(given.b), b)};
  if (given.bias > 0) reads.push_back(testing::floats(Shape({given.bias}), c));
  ASSERT_EQ(offered_kernels(graph, NodeId(0)).at(0).name, testing::first_kernel("onednn.matmul"));
  const Floats y = testing::values_of<float>(testing::run_one(graph, reads));
  ASSERT_EQ(y.size(), static_cast<std::size_t>(batch * rows * columns));
  for (std::int64_t i = 0; i < batch * rows * columns; ++i) {
    const std::int64_t matrix = i / (rows * columns);
    const std::int64_t row = i / columns % rows;
    const std::int64_t column = i % columns;
    double sum = given.bias > 0 ? c[static_cast<std::size_t>(column)] : 0;
    for (std::int64_t k = 0; k < inner; ++k) {
      sum += at(a, matrix % batch_a * rows * inner, row, k, {is_left_transposed ? rows : inner, is_left_transposed}) *
             at(b, matrix % batch_b * inner * columns, k, column,
                {is_right_transposed ? inner : columns, is_right_transposed});
    }
    ASSERT_NEAR(y[static_cast<std::size_t>(i)], sum, 1e-4) << i;
  }
}

TEST(OnednnProduct, MultipliesMatricesAndBatches) {
  expect_products({"MatMul(a, b)", {19, 70}, {70, 33}, {19, 33}}, false, false);
  expect_products({"MatMul(a, b)", {1, 64}, {64, 40}, {1, 40}}, false, false);
  expect_products({"MatMul(a, b)", {3, 19}, {19, 9}, {3, 9}}, false, false);  // 513 products
  expect_products({"MatMul(a, b)", {2, 3, 19, 64}, {64, 20}, {2, 3, 19, 20}}, false, false);
  expect_products({"MatMul(a, b)", {2, 3, 19, 64}, {2, 3, 64, 20}, {2, 3, 19, 20}}, false, false);
}

TEST(OnednnProduct, RepeatsMatricesAlongABatch) {
  expect_products({"MatMul(a, b)", {4, 19, 64}, {1, 64, 20}, {4, 19, 20}}, false, false);
  expect_products({"MatMul(a, b)", {19, 64}, {4, 64, 20}, {4, 19, 20}}, false, false);
}

TEST(OnednnProduct, AddsTheBiasOfAGemm) {
  expect_products({"Gemm(a, b, c)", {19, 64}, {64, 20}, {19, 20}, 20}, false, false);
  expect_products({"Gemm(a, b, c) {transB = 1}", {19, 64}, {20, 64}, {19, 20}, 20}, false, true);
}

TEST(OnednnProduct, LeavesOtherNodesToOtherKernels) {
  for (const ProductCase& other :
       {ProductCase{"Gemm(a, b) {alpha = 0.5}", {40, 8}, {8, 40}, {40, 40}},
        ProductCase{"MatMul(a, b)", {40, 8}, {9, 40}, {40, 40}}, ProductCase{"MatMul(a, b)", {4, 0}, {0, 4}, {4, 4}},
        ProductCase{"Gemm(a, b) {transB = 1}", {1, 64}, {40, 64}, {1, 40}},  // a row of dot products
        ProductCase{"MatMul(a, b)", {4, 16}, {16, 8}, {4, 8}}}) {            // 512 products: oneDNN begins too slowly
    const Graph graph = other.graph();
    for (const Kernel& kernel : offered_kernels(graph, NodeId(0))) EXPECT_NE(kernel.name, "onednn.matmul");
  }
}

// 197 x 768 x 3072, as in a transformer.
TEST(OnednnProduct, HasTheScratchOfItsDescription) {
  const Graph graph = ProductCase{"MatMul(a, b)", {197, 768}, {768, 3072}, {197, 3072}}.graph();
  const std::vector<Kernel> offered = offered_kernels(graph, NodeId(0));
  ASSERT_FALSE(offered.empty());
  EXPECT_EQ(offered[0].name, testing::first_kernel("onednn.matmul"));
  if (testing::has_library_products()) {
    EXPECT_GT(offered[0].scratch, Bytes());
  }
}

// A graph in the text form may state any result. oneDNN is not asked for what does not exist.
TEST(OnednnProduct, IsNotOfferedForAResultWithoutAxes) {
  for (const ProductCase& given :
       {ProductCase{"MatMul(a, b)", {2, 3}, {3, 400}, {}}, ProductCase{"MatMul(a, b)", {3}, {1, 1}, {}},
        ProductCase{"MatMul(a, b)", {2, 3}, {3, 400}, {400}}, ProductCase{"Gemm(a, b)", {2, 3}, {3, 400}, {}},
        ProductCase{"Gemm(a, b, c)", {2, 3}, {3, 400}, {}, 400}}) {
    for (const Kernel& kernel : offered_kernels(given.graph(), NodeId(0))) EXPECT_EQ(kernel.name, "plain");
  }
  const ProductCase dot{"MatMul(a, b)", {3}, {3}, {}};
  EXPECT_FALSE(offered_kernels(dot.graph(), NodeId(0)).empty());
}

// Heads that lie side by side in the rows of a tensor, as projections write them, are copied one by one: 8 x 4 keys and
// values of a head, and 2 queries with their scores and their result, in units of 64 bytes.
TEST(OnednnAttention, CopiesOneHeadAtATime) {
  const Graph graph = testing::graph_of(R"(graph "g" {
  input q : f32[1,2,3,4]
  input k : f32[1,8,3,4]
  input v : f32[1,8,3,4]
  y = lowtide::Attention(q, k, v) {query_order = [0, 2, 1, 3], key_order = [0, 2, 3, 1], value_order = [0, 2, 1, 3],
      result_order = [0, 2, 1, 3]} : f32[1,2,3,4]
  output y
})");
  const std::vector<Kernel> kernels = offered_kernels(graph, NodeId(0));
  ASSERT_EQ(kernels.at(0).name, testing::first_kernel("onednn.attention"));
  const std::int64_t copies = 64 + 64 + 128 + 128 + 64;  // scores, queries, keys, values, result
  if (testing::has_library_products()) {
    EXPECT_GE(kernels[0].scratch.count(), copies);
  }
}

}  // namespace
}  // namespace lowtide
