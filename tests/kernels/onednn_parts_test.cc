// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/parts.h"

#include <gmock/gmock.h>

#include <array>
#include <optional>
#include <span>

#include "lowtide/base/random.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/onednn/stored.h"
#include "tests/kernels/onednn_convolutions.h"
#include "tests/kernels/product_kernel.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using kernels_internal::block_along;
using kernels_internal::Convolution;
using kernels_internal::elements_before;
using kernels_internal::parts_of;
using kernels_internal::Product;
using ::testing::ElementsAre;
using testing::Floats;
using ::testing::IsEmpty;
using testing::ReversedTeam;
using ::testing::SizeIs;
using testing::SquareConv;

TEST(StoredOrder, HasTheBlocksOfItsName) {
  EXPECT_EQ(block_along("aBcd16b", 1), 16);
  EXPECT_EQ(block_along("aBcd16b", 2), 1);
  EXPECT_EQ(block_along("ABcd4b16a4b", 1), 16);
  EXPECT_EQ(block_along("ABcd4b16a4b", 0), 16);
  EXPECT_EQ(block_along("acdb", 1), 1);
}

// 40 channels are three blocks of 16, so a block of 7 x 7 places has 784 elements.
TEST(StoredOrder, FindsTheBeginOfARange) {
  const kernels_internal::ExtentList image = {1, 40, 7, 7};
  EXPECT_EQ(elements_before("aBcd16b", image, 1, 32), 2 * 784);
  EXPECT_EQ(elements_before("aBcd16b", image, 1, 20), std::nullopt) << "in the middle of a block";
  EXPECT_EQ(elements_before("aBcd16b", image, 2, 3), std::nullopt) << "rows of the first block, then of the second";
  EXPECT_EQ(elements_before("aBcd16b", {1, 9, 7, 5}, 2, 3), 3 * 5 * 16);
  EXPECT_EQ(elements_before("acdb", image, 2, 3), 3 * 7 * 40);
  EXPECT_EQ(elements_before("acdb", {2, 40, 7, 7}, 2, 3), std::nullopt);
  EXPECT_EQ(elements_before("acdb", {2, 40, 7, 7}, 0, 1), 40 * 49);
  EXPECT_EQ(elements_before("ABcd16b16a", {64, 40, 3, 3}, 0, 32), 32 * 48 * 9);
}

// 64 results are 32 for each thread. A result has 14 x 14 places, and its weights are 64 x 3 x 3.
TEST(OnednnParts, DivideTheResultsOfAConvolution) {
  const Convolution whole{.source = {1, 64, 14, 14},
                          .weights = {64, 64, 3, 3},
                          .result = {1, 64, 14, 14},
                          .strides = {1, 1},
                          .gaps = {0, 0},
                          .pads_begin = {1, 1},
                          .pads_end = {1, 1},
                          .has_bias = true,
                          .input = Format::nchw16c,
                          .output = Format::nchw16c,
                          .weights_order = "ABcd16b16a"};
  const auto parts = parts_of(whole, 2);
  ASSERT_THAT(parts, SizeIs(2));
  for (const auto& part : parts) {
    EXPECT_EQ(part.problem.source, whole.source);
    EXPECT_THAT(part.problem.weights, ElementsAre(32, 64, 3, 3));
    EXPECT_THAT(part.problem.result, ElementsAre(1, 32, 14, 14));
  }
  EXPECT_THAT(parts[0].offsets.reads, ElementsAre(0, 0, 0));
  EXPECT_EQ(parts[0].offsets.write, 0);
  EXPECT_THAT(parts[1].offsets.reads, ElementsAre(0, 32 * 64 * 9 * 4, 32 * 4));
  EXPECT_EQ(parts[1].offsets.write, 32 * 14 * 14 * 4);
}

// A residual is divided as the results, and a gate of one number per channel as well. One number for all is repeated.
TEST(OnednnParts, DivideTheOperandsOfAnEpilogue) {
  Convolution whole{.source = {1, 64, 14, 14},
                    .weights = {64, 64, 3, 3},
                    .result = {1, 64, 14, 14},
                    .strides = {1, 1},
                    .gaps = {0, 0},
                    .pads_begin = {1, 1},
                    .pads_end = {1, 1},
                    .input = Format::nchw16c,
                    .output = Format::nchw16c,
                    .weights_order = "ABcd16b16a"};
  constexpr auto kBinary = kernels_internal::PostOp::Kind::binary;
  whole.after = {{.kind = kBinary, .operand = 3, .extents = {1, 64, 14, 14}},
                 {.kind = kBinary, .operand = 4, .extents = {1, 64, 1, 1}},
                 {.kind = kBinary, .operand = 5, .extents = {1, 1, 1, 1}}};
  const auto parts = parts_of(whole, 2);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_THAT(parts[1].offsets.reads, ElementsAre(0, 32 * 64 * 9 * 4, 32 * 4, 32 * 14 * 14 * 4, 32 * 4));
  EXPECT_THAT(parts[1].problem.after[0].extents, ElementsAre(1, 32, 14, 14));
  EXPECT_THAT(parts[1].problem.after[1].extents, ElementsAre(1, 32, 1, 1));
  EXPECT_THAT(parts[1].problem.after[2].extents, ElementsAre(1, 1, 1, 1));
}

// Rows 0..6 and 7..13 of 14. With a window of 3 rows, the first part reads rows 0..7, and the second one rows 6..13.
TEST(OnednnParts, DivideTheRowsOfAnNhwcImage) {
  const Convolution whole{.source = {1, 64, 14, 14},
                          .weights = {64, 64, 3, 3},
                          .result = {1, 64, 14, 14},
                          .strides = {1, 1},
                          .gaps = {0, 0},
                          .pads_begin = {1, 1},
                          .pads_end = {1, 1},
                          .input = Format::nhwc,
                          .output = Format::nhwc,
                          .weights_order = "Acdb64a"};
  const auto parts = parts_of(whole, 2);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_THAT(parts[0].problem.source, ElementsAre(1, 64, 8, 14));
  EXPECT_THAT(parts[0].problem.pads_begin, ElementsAre(1, 1));
  EXPECT_THAT(parts[0].problem.pads_end, ElementsAre(0, 1));
  EXPECT_THAT(parts[1].problem.source, ElementsAre(1, 64, 8, 14));
  EXPECT_THAT(parts[1].problem.pads_begin, ElementsAre(0, 1));
  EXPECT_THAT(parts[1].problem.pads_end, ElementsAre(1, 1));
  EXPECT_THAT(parts[1].offsets.reads, ElementsAre(6 * 14 * 64 * 4));
  EXPECT_EQ(parts[1].offsets.write, 7 * 14 * 64 * 4);
}

TEST(OnednnParts, LeaveSmallProblemsWhole) {
  EXPECT_THAT(parts_of(Product{.left = {8, 8}, .right = {8, 8}, .bias = {}, .result = {8, 8}}, 2), IsEmpty());
  EXPECT_THAT(parts_of(Product{.left = {64, 512}, .right = {512, 512}, .bias = {}, .result = {64, 512}}, 2), SizeIs(2));
}

// One row times a stored matrix: columns of the matrix are contiguous only if it is transposed.
TEST(OnednnParts, DivideTheColumnsOfATransposedMatrix) {
  Product product{.left = {1, 1024}, .right = {1024, 1000}, .bias = {1, 1000}, .result = {1, 1000}};
  EXPECT_THAT(parts_of(product, 2), IsEmpty());
  product.is_right_transposed = true;
  const auto parts = parts_of(product, 2);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_THAT(parts[1].problem.right, ElementsAre(1024, 500));
  EXPECT_THAT(parts[1].offsets.reads, ElementsAre(0, 500 * 1024 * 4, 500 * 4));
  EXPECT_EQ(parts[1].offsets.write, 500 * 4);
}

// The bits of one thread, on teams of the threads that the kernel is prepared for, and of others. Returns whether it
// divides its work between two threads.
bool expect_equal_parts(const Graph& graph, const std::vector<testing::TensorData>& reads,
                        std::span<const int> counts = testing::kThreadCounts) {
  const Floats expected = testing::values_of<float>(testing::run_one(graph, reads));
  ReversedTeam two(2);
  EXPECT_EQ(testing::values_of<float>(testing::run_one(graph, reads, 2, &two)), expected);
  for (const int threads : counts) {
    ReversedTeam team(threads);
    EXPECT_EQ(testing::values_of<float>(testing::run_one(graph, reads, threads, &team)), expected) << threads;
    EXPECT_EQ(testing::values_of<float>(testing::run_one(graph, reads, threads)), expected) << threads << " on one";
  }
  ReversedTeam other(3);
  EXPECT_EQ(testing::values_of<float>(testing::run_one(graph, reads, 8, &other)), expected) << "8 on 3";
  return two.calls > 0;
}

// Operands of numbers that look random. The lanes of a block without a channel are 0.
testing::TensorData operand_in(Format format, const Shape& model, std::uint64_t seed) {
  const auto plain = testing::floats(model, testing::numbers(*element_count(model), seed));
  return format == Format::plain ? plain
                                 : testing::run_one(testing::reorder_graph(Format::plain, format, model), {plain});
}

std::vector<testing::TensorData> operands_of(const SquareConv& conv, const FormatOption& option) {
  const auto weights =
      testing::floats(Shape(conv.weights()), testing::numbers(*element_count(Shape(conv.weights())), 2));
  std::vector<testing::TensorData> reads = {operand_in(option.input, Shape(conv.source()), 1),
                                            testing::run_one(pack_graph(conv, *option.weights), {weights})};
  if (conv.has_bias) reads.push_back(testing::floats(Shape({conv.results}), testing::numbers(conv.results, 3)));
  return reads;
}

// Convolutions of networks, with fewer channels and smaller images.
const std::vector<SquareConv>& shared_convolutions() {
  static const std::vector<SquareConv> kAll = {
      {.channels = 64, .size = 28, .results = 64, .window = 3, .pad = 1},
      {.channels = 64, .size = 28, .results = 128, .window = 3, .stride = 2, .pad = 1},
      {.channels = 3, .size = 56, .results = 32, .window = 7, .stride = 2, .pad = 3},
      {.channels = 128, .size = 14, .results = 40, .window = 1, .has_bias = false},
      {.channels = 64, .size = 28, .results = 128, .window = 1, .stride = 2},
      {.channels = 96, .size = 28, .results = 96, .window = 3, .pad = 1, .group = 96},
      {.channels = 144, .size = 28, .results = 144, .window = 3, .stride = 2, .pad = 1, .group = 144},
      {.channels = 128, .size = 14, .results = 128, .window = 3, .pad = 1, .group = 4},
      {.channels = 48, .size = 28, .results = 80, .window = 3, .pad = 2, .dilation = 2},
      {.batch = 2, .channels = 32, .size = 14, .results = 48, .window = 3, .pad = 1},
      {.batch = 3, .channels = 32, .size = 14, .results = 40, .window = 5, .pad = 2},
      {.channels = 512, .size = 7, .results = 512, .window = 3, .pad = 1},
      {.channels = 960, .size = 7, .results = 320, .window = 1},
      {.channels = 58, .size = 28, .results = 58, .window = 1},
  };
  return kAll;
}

TEST(OnednnParts, GiveTheBitsOfOneConvolution) {
  for (const SquareConv& conv : shared_convolutions()) {
    SCOPED_TRACE(testing::text_of(conv.source()) + " " + testing::text_of(conv.weights()) + " " + conv.attributes());
    for (const FormatOption& option : kernels_internal::options_of_convolution(conv.graph(), NodeId(0))) {
      SCOPED_TRACE(std::string(to_string(option.input)) + " to " + std::string(to_string(option.output)));
      const bool is_shared = expect_equal_parts(conv_graph(conv, option), operands_of(conv, option));
      // oneDNN has other code for 1 x 1 convolutions of half of an NHWC image.
      EXPECT_TRUE(is_shared || (option.output == Format::nhwc && conv.window == 1));
    }
  }
}

SquareConv random_convolution(Random& random) {
  SquareConv conv{.batch = random.between(1, 3),
                  .channels = random.between(1, 80),
                  .size = random.between(7, 40),
                  .results = random.between(1, 120),
                  .window = 1 + 2 * random.between(0, 2),
                  .stride = random.between(1, 2),
                  .dilation = random.between(1, 2)};
  conv.pad = random.between(0, (conv.window - 1) / 2 * conv.dilation);
  conv.has_bias = random.between(0, 1) == 1;
  const std::int64_t kind = random.between(0, 3);
  if (kind == 0) conv.group = conv.results = conv.channels;
  if (kind == 1) {
    conv.group = random.between(2, 4);
    conv.channels *= conv.group;
    conv.results = (conv.results + conv.group - 1) / conv.group * conv.group;
  }
  if (conv.size < (conv.window - 1) * conv.dilation + 1) conv.size = (conv.window - 1) * conv.dilation + 1;
  return conv;
}

TEST(OnednnParts, GiveTheBitsOfRandomConvolutions) {
  Random random(17);
  int shared = 0;
  for (int round = 0; round < 120; ++round) {
    const SquareConv conv = random_convolution(random);
    SCOPED_TRACE(testing::text_of(conv.source()) + " " + testing::text_of(conv.weights()) + " " + conv.attributes());
    for (const FormatOption& option : kernels_internal::options_of_convolution(conv.graph(), NodeId(0))) {
      SCOPED_TRACE(std::string(to_string(option.input)) + " to " + std::string(to_string(option.output)));
      const std::array counts{3 + round % 6};
      shared += expect_equal_parts(conv_graph(conv, option), operands_of(conv, option), counts) ? 1 : 0;
    }
  }
  EXPECT_GT(shared, 100) << "of up to 360";
}

// With 384 results for an image of 20 x 20, oneDNN 3.2 adds up all 192 or 384 channels, and with half of the results
// 80 channels at a time. So these are not divided on a machine with AVX-512.
TEST(OnednnParts, AreNotUsedIfTheyAddInAnotherOrder) {
  for (const std::int64_t channels : {192, 384}) {
    const SquareConv conv{.channels = channels, .size = 20, .results = 384, .window = 1};
    for (const FormatOption& option : kernels_internal::onednn_formats()->options(conv.graph(), NodeId(0))) {
      SCOPED_TRACE(std::to_string(channels) + " " + std::string(to_string(option.output)));
      (void)expect_equal_parts(conv_graph(conv, option), operands_of(conv, option));
    }
  }
}

TEST(OnednnParts, GiveTheBitsOfOneProduct) {
  struct Case {
    std::string node;
    std::vector<std::int64_t> a, b, y;
  };
  for (const Case& one : {Case{"MatMul(a, b)", {197, 192}, {192, 576}, {197, 576}},
                          Case{"MatMul(a, b)", {63, 768}, {768, 100}, {63, 100}},
                          Case{"MatMul(a, b)", {3, 50, 64}, {3, 64, 50}, {3, 50, 50}},
                          Case{"MatMul(a, b)", {2, 6, 50, 64}, {1, 6, 64, 50}, {2, 6, 50, 50}},
                          Case{"MatMul(a, b)", {300, 64}, {4, 64, 20}, {4, 300, 20}},
                          Case{"Gemm(a, b) {transB = 1}", {1, 2048}, {1000, 2048}, {1, 1000}},
                          Case{"Gemm(a, b) {transB = 1}", {33, 512}, {130, 512}, {33, 130}}}) {
    SCOPED_TRACE(one.node + " " + testing::text_of(one.a) + " " + testing::text_of(one.b));
    const Graph graph = testing::graph_of("graph \"g\" {\n input a : f32" + testing::text_of(one.a) +
                                          "\n input b : f32" + testing::text_of(one.b) + "\n y = " + one.node +
                                          " : f32" + testing::text_of(one.y) + "\n output y\n}");
    EXPECT_TRUE(expect_equal_parts(
        graph, {operand_in(Format::plain, Shape(one.a), 1), operand_in(Format::plain, Shape(one.b), 2)}));
  }
}

TEST(OnednnParts, GiveTheBitsOfOneReorder) {
  const Format blocks = machine_key().isa.starts_with("avx512") ? Format::nchw16c : Format::nchw8c;
  const Shape model({1, 40, 56, 56});
  EXPECT_TRUE(
      expect_equal_parts(testing::reorder_graph(Format::plain, blocks, model), {operand_in(Format::plain, model, 1)}));
  EXPECT_TRUE(expect_equal_parts(testing::reorder_graph(blocks, Format::plain, model), {operand_in(blocks, model, 1)}));
  const Shape images({2, 3, 112, 112});
  EXPECT_TRUE(expect_equal_parts(testing::reorder_graph(Format::plain, Format::nhwc, images),
                                 {operand_in(Format::plain, images, 1)}));
}

// Six heads of two images. With the heads after the rows, each thread copies keys and values to scratch of its own.
TEST(OnednnParts, GiveTheBitsOfOneAttention) {
  for (const bool is_flat : {false, true}) {
    const Shape rows = is_flat ? Shape({2, 70, 3, 32}) : Shape({2, 3, 70, 32});
    const Shape keys = is_flat ? rows : Shape({2, 3, 32, 70});
    const std::string orders =
        is_flat ? ", query_order = [0, 2, 1, 3], key_order = [0, 2, 3, 1], value_order = [0, 2, 1, 3], "
                  "result_order = [0, 2, 1, 3]"
                : "";
    const Graph graph = testing::lowered_graph(
        "Attention(q, k, v) {factor = 0.5" + orders + "}",
        {"q : f32" + to_string(rows), "k : f32" + to_string(keys), "v : f32" + to_string(rows)}, rows);
    ASSERT_EQ(offered_kernels(graph, NodeId(0)).at(0).name, testing::first_kernel("onednn.attention"));
    // The plain kernel has one part.
    EXPECT_EQ(expect_equal_parts(graph, {operand_in(Format::plain, rows, 1), operand_in(Format::plain, keys, 2),
                                         operand_in(Format::plain, rows, 3)}),
              testing::has_library_products());
  }
}

// Each part has the one buffer of sums that one thread would have.
TEST(OnednnParts, HaveScratchOfTheirOwn) {
  const SquareConv conv{.channels = 64, .size = 56, .results = 64, .window = 3, .pad = 1};
  const FormatOption nhwc = kernels_internal::options_of_convolution(conv.graph(), NodeId(0)).back();
  const Graph graph = conv_graph(conv, nhwc);
  const Bytes alone = offered_kernels(graph, NodeId(0), 1).at(0).scratch;
  EXPECT_EQ(offered_kernels(graph, NodeId(0), 2).at(0).scratch, alone + alone);
  const Target target = *cpu_target({.threads = 2});
  EXPECT_EQ(target.catalogue->kernels(graph, NodeId(0)).at(0).scratch, alone + alone);
}

}  // namespace
}  // namespace lowtide
