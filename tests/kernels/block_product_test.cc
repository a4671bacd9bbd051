// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/product.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "lowtide/kernels/blocks/product_runner.h"
#include "lowtide/kernels/blocks/tile.h"
#include "tests/kernels/onednn_convolutions.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using kernels_internal::block_matrix;
using kernels_internal::BlockProduct;
using kernels_internal::has_tiles;
using kernels_internal::product_option;
using testing::Floats;
using testing::ReversedTeam;
using testing::TensorData;

std::vector<Format> product_formats() {
  std::vector<Format> found;
  if (has_tiles(16)) found.push_back(Format::nchw16c);
  if (has_tiles(8)) found.push_back(Format::nchw8c);
  return found;
}

// Rows times a constant [inner, columns], or [columns, inner].
struct BlockCase {
  std::int64_t rows = 1;
  std::int64_t inner = 1;
  std::int64_t columns = 1;
  bool is_transposed = false;
  bool has_bias = false;

  [[nodiscard]] Shape constant() const { return is_transposed ? Shape({columns, inner}) : Shape({inner, columns}); }
  [[nodiscard]] Graph standard() const {
    const std::string bias = has_bias ? ", b" : "";
    const std::string node = has_bias || is_transposed
                                 ? "Gemm(x, w" + bias + ") {transB = " + (is_transposed ? "1" : "0") + "}"
                                 : "MatMul(x, w)";
    return testing::graph_of("graph \"g\" {\n input x : f32" + to_string(Shape({rows, inner})) + "\n constant w : f32" +
                             to_string(constant()) + "\n constant b : f32" + to_string(Shape({columns})) +
                             "\n y = " + node + " : f32" + to_string(Shape({rows, columns})) + "\n output y\n}");
  }
  [[nodiscard]] std::string attributes(const PackedConstant& packed) const {
    return "weights = " + to_string(constant()) + ", transB = " + (is_transposed ? "1" : "0") + ", order = \"" +
           packed.order + "\"";
  }
  [[nodiscard]] Graph pack(const PackedConstant& packed) const {
    return testing::lowered_graph(
        "Pack(w) {order = \"" + packed.order + "\", transB = " + (is_transposed ? "1" : "0") + "}",
        {"w : f32" + to_string(constant())}, packed.shape);
  }
  [[nodiscard]] Graph packed(const PackedConstant& packed) const {
    return testing::lowered_graph(
        "PackedMatMul(x, w" + std::string(has_bias ? ", b" : "") + ") {" + attributes(packed) + "}",
        {"x : f32" + to_string(Shape({rows, inner})), "w : f32" + to_string(packed.shape),
         "b : f32" + to_string(Shape({columns}))},
        Shape({rows, columns}));
  }

  [[nodiscard]] Floats x() const { return testing::numbers(rows * inner, 1); }
  [[nodiscard]] Floats w() const { return testing::numbers(inner * columns, 2); }
  [[nodiscard]] Floats b() const { return testing::numbers(columns, 3); }

  [[nodiscard]] Floats expected() const {
    const Floats left = x();
    const Floats right = w();
    const Floats bias = b();
    Floats result;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = has_bias ? bias[static_cast<std::size_t>(column)] : 0;
        for (std::int64_t at = 0; at < inner; ++at) {
          const std::int64_t of_right = is_transposed ? column * inner + at : at * columns + column;
          sum += static_cast<double>(left[static_cast<std::size_t>(row * inner + at)]) *
                 right[static_cast<std::size_t>(of_right)];
        }
        result.push_back(static_cast<float>(sum));
      }
    }
    return result;
  }
};

std::vector<TensorData> operands_of(const BlockCase& of, const PackedConstant& packed) {
  std::vector<TensorData> reads = {testing::floats(Shape({of.rows, of.inner}), of.x()),
                                   testing::run_one(of.pack(packed), {testing::floats(of.constant(), of.w())})};
  if (of.has_bias) reads.push_back(testing::floats(Shape({of.columns}), of.b()));
  return reads;
}

Floats run_case(const BlockCase& of, const PackedConstant& packed, int threads, std::size_t kernel = 0,
                const CacheSizes& caches = {}) {
  const Graph graph = of.packed(packed);
  const std::vector<Kernel> offered = offered_kernels(graph, NodeId(0), threads, caches);
  EXPECT_EQ(offered.at(kernel).name, kernel == 0 ? "blocks.matmul" : "blocks.matmul_by_row");
  ReversedTeam team(threads);
  testing::KernelRun run(graph, offered.at(kernel).name);
  run.threads = threads;
  run.team = &team;
  run.caches = caches;
  EXPECT_EQ(run.run(operands_of(of, packed)), RunStatus());
  return testing::values_of<float>(run.writes[0]);
}

// Without scratch, rows must be in blocks as they are, and one row always is.
bool has_kernel_by_row(const BlockCase& of, Format format) { return of.rows > 1 && of.inner % block_of(format) == 0; }

TEST(BlockProduct, EqualsSumsOfProducts) {
  // One row; fewer rows than a tile; several tiles, of which each thread has its own or not; groups of rows, and chunks
  // of the inner axis; axes that do not fill their blocks.
  for (const BlockCase& of :
       {BlockCase{1, 64, 48}, BlockCase{1, 65, 50, true, true}, BlockCase{3, 16, 16, false, true},
        BlockCase{13, 20, 40, true}, BlockCase{29, 20, 100, false, true}, BlockCase{197, 1600, 24, true, true},
        BlockCase{700, 130, 250}, BlockCase{700, 512, 330}}) {
    SCOPED_TRACE(::testing::PrintToString(std::vector{of.rows, of.inner, of.columns}));
    for (const Format format : product_formats()) {
      const std::optional<FormatOption> option = product_option(of.standard(), NodeId(0), format);
      ASSERT_TRUE(option && option->weights);
      EXPECT_EQ(option->input, Format::plain);
      EXPECT_EQ(option->output, Format::plain);
      const Floats found = run_case(of, *option->weights, 1);
      const Floats expected = of.expected();
      ASSERT_EQ(found.size(), expected.size());
      // Up to 1,600 products of numbers below 1 are summed in float.
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 4e-4) << i;
      for (const int threads : testing::kThreadCounts) EXPECT_EQ(run_case(of, *option->weights, threads), found);
      EXPECT_EQ(run_case(of, *option->weights, 3, 0, testing::kLeastCaches), found);
      const bool has_two = has_kernel_by_row(of, format);
      ASSERT_EQ(offered_kernels(of.packed(*option->weights), NodeId(0)).size(), has_two ? 2U : 1U);
      if (!has_two) continue;
      EXPECT_EQ(offered_kernels(of.packed(*option->weights), NodeId(0))[1].scratch, Bytes());
      for (const int threads : testing::kThreadCounts) EXPECT_EQ(run_case(of, *option->weights, threads, 1), found);
    }
  }
}

TEST(BlockProduct, DividesRowsAndTheInnerAxis) {
  const auto divided = [](std::int64_t rows, std::int64_t inner, std::int64_t columns, int threads = 1) {
    BlockProduct product{.matrix = *block_matrix(16, Shape({inner, columns}), false), .rows = rows};
    set_division(product, threads, {});
    return product;
  };
  if (!has_tiles(16)) return;
  // 197 rows of 768 fit into the copy of 160 * 1024 elements; 3072 are four chunks.
  EXPECT_EQ(divided(197, 3072, 768).chunk * 16, 768);
  EXPECT_EQ(divided(197, 3072, 768).group_rows, 197);
  EXPECT_EQ(divided(197, 3072, 768).scratch(), Bytes(197 * 768 * 4));
  // A matrix of 96 * 288 elements stays in the cache, so each tile of 14 rows is finished before the next one.
  EXPECT_TRUE(divided(3136, 96, 288).is_by_tile);
  EXPECT_EQ(divided(3136, 96, 288).scratch(), Bytes(14 * 96 * 4));
  EXPECT_EQ(divided(3136, 96, 288, 2).scratch(), Bytes(2 * 14 * 96 * 4));
  // Two threads with fewer than two tiles each divide the columns.
  EXPECT_TRUE(divided(55, 96, 288).is_by_tile);
  EXPECT_FALSE(divided(55, 96, 288, 2).is_by_tile);
  // A matrix of 512 * 336 elements does not stay. The copy has 160 * 1024: 320 rows, so 700 are three groups.
  EXPECT_FALSE(divided(700, 512, 336).is_by_tile);
  EXPECT_EQ(divided(700, 512, 336).group_rows, 238);
  // A second cache of 256 KiB has space for a copy of 40 * 1024 elements: 80 rows. So 700 are nine groups of 78, in
  // whole tiles of 14 rows.
  BlockProduct small{.matrix = *block_matrix(16, Shape({512, 336}), false), .rows = 700};
  set_division(small, 1, {Bytes(32 * 1024), Bytes(256 * 1024)});
  EXPECT_EQ(small.group_rows, 84);
  // One row is read where it is, unless its last block must be filled.
  EXPECT_EQ(divided(1, 1280, 1000).scratch(), Bytes());
  EXPECT_EQ(divided(1, 1281, 1000).scratch(), Bytes(1296 * 4));
}

// 29 rows are three tiles, and 61 are five, so that each of two threads has its own. Eight threads divide the columns.
void expect_bits_of_a_chain(std::int64_t rows) {
  const BlockCase of{rows, 40, 300, false, true};
  const std::string type = "f32" + to_string(Shape({rows, 300}));
  for (const Format format : product_formats()) {
    const std::optional<FormatOption> option = product_option(of.standard(), NodeId(0), format);
    ASSERT_TRUE(option && option->weights);
    const std::string program = "[\"input t : " + type + "\", \"input r : " + type +
                                R"(", "input c : f32[300]", "input s : f32[]", )" + R"("a = Add(r, t) \"a\" : )" +
                                type + R"(", "m = Mul(a, c) \"m\" : )" + type + R"(", "d = Div(m, s) \"d\" : )" + type +
                                R"(", "y = Sigmoid(d) \"y\" : )" + type + R"(", "output y"])";
    const std::vector<std::string> operands = {"x : f32" + to_string(Shape({rows, 40})),
                                               "w : f32" + to_string(option->weights->shape),
                                               "b : f32[300]",
                                               "r : " + type,
                                               "c : f32[300]",
                                               "s : f32[]"};
    const Graph fused = testing::lowered_graph("PackedMatMul(x, w, b, r, c, s) {" + of.attributes(*option->weights) +
                                                   ", product = \"t\", epilogue = " + program + "}",
                                               operands, Shape({rows, 300}));
    ASSERT_EQ(offered_kernels(fused, NodeId(0)).at(0).name, "blocks.matmul");
    const Graph chain =
        testing::lowered_graph("Chain(t, r, c, s) {program = " + program + "}",
                               {"t : " + type, operands[3], operands[4], operands[5]}, Shape({rows, 300}));
    std::vector<TensorData> reads = operands_of(of, *option->weights);
    const TensorData t = testing::run_one(of.packed(*option->weights), reads);
    const std::vector<TensorData> others = {testing::floats(Shape({rows, 300}), testing::numbers(rows * 300, 7)),
                                            testing::floats(Shape({300}), testing::numbers(300, 8)),
                                            testing::floats(Shape(), {0.75F})};
    std::vector<TensorData> of_chain = {t};
    of_chain.insert(of_chain.end(), others.begin(), others.end());
    reads.insert(reads.end(), others.begin(), others.end());
    const Floats expected = testing::values_of<float>(testing::run_one(chain, of_chain));
    for (const int threads : testing::kThreadCounts) {
      ReversedTeam team(threads);
      EXPECT_EQ(testing::values_of<float>(testing::run_one(fused, reads, threads, &team)), expected);
    }
  }
}

TEST(BlockProduct, ComputesAnEpilogueWithTheBitsOfAChain) {
  expect_bits_of_a_chain(29);
  expect_bits_of_a_chain(61);
}

TEST(BlockProduct, LeavesOtherProductsAlone) {
  if (product_formats().empty()) return;
  const auto has_option = [](const std::string& operands, const std::string& node) {
    const Graph graph =
        testing::graph_of("graph \"g\" {\n input x : f32[4,32]\n " + operands + "\n y = " + node + "\n output y\n}");
    return product_option(graph, NodeId(0), product_formats()[0]).has_value();
  };
  EXPECT_TRUE(has_option("constant w : f32[32,16]", "MatMul(x, w) : f32[4,16]"));
  EXPECT_TRUE(has_option("constant w : f32[32,16]\n constant b : f32[1,16]", "Gemm(x, w, b) : f32[4,16]"));
  // A bias that differs between rows; other factors; a first operand that is transposed; a batch of matrices; a matrix
  // of which most of the packed one would be zeros; a vector.
  EXPECT_FALSE(has_option("constant w : f32[32,16]\n constant b : f32[4,16]", "Gemm(x, w, b) : f32[4,16]"));
  EXPECT_FALSE(has_option("constant w : f32[32,16]", "Gemm(x, w) {alpha = 2.0} : f32[4,16]"));
  EXPECT_FALSE(has_option("constant w : f32[4,16]", "Gemm(x, w) {transA = 1} : f32[32,16]"));
  EXPECT_FALSE(has_option("constant w : f32[2,32,16]", "MatMul(x, w) : f32[2,4,16]"));
  EXPECT_FALSE(has_option("constant w : f32[32,2]", "MatMul(x, w) : f32[4,2]"));
  EXPECT_FALSE(has_option("constant w : f32[32]", "MatMul(x, w) : f32[4]"));
  // 32 MiB, and 32 columns more.
  EXPECT_TRUE(has_option("constant w : f32[32,262144]", "MatMul(x, w) : f32[4,262144]"));
  EXPECT_FALSE(has_option("constant w : f32[32,262176]", "MatMul(x, w) : f32[4,262176]"));
}

TEST(BlockProduct, RefusesAttributesThatDisagree) {
  const auto missing = [](const std::string& attributes, const std::string& packed) {
    const Graph graph = testing::lowered_graph("PackedMatMul(x, w) {" + attributes + "}",
                                               {"x : f32[4,32]", "w : f32[" + packed + "]"}, Shape({4, 16}));
    const std::vector<UnsupportedNode> nodes = unsupported(graph);
    return nodes.empty() ? "" : nodes[0].missing;
  };
  const std::string good = R"(weights = [32, 16], transB = 0, order = "blocks16")";
  EXPECT_EQ(missing(good, "512"), has_tiles(16) ? "" : "the machine has no vector instructions for it");
  constexpr std::string_view kOrder = "its attributes do not describe the order of its packed matrix";
  EXPECT_EQ(missing(good, "511"), kOrder);
  EXPECT_EQ(missing(R"(weights = [32, 16], transB = 0, order = "planes16")", "512"), kOrder);
  EXPECT_EQ(missing(R"(weights = [32, 16], order = "blocks16")", "512"), kOrder);
  EXPECT_EQ(missing(R"(weights = [16, 32], transB = 0, order = "blocks16")", "512"),
            "input 'x' is f32[4,32], and has to have rows for [16,32]");
}

}  // namespace
}  // namespace lowtide
