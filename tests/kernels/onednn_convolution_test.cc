// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "lowtide/kernels/cpu_target.h"
#include "tests/kernels/onednn_convolutions.h"

namespace lowtide {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using testing::Floats;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::SquareConv;

// The convolutions of small networks: dense, first layer, 1 x 1, depthwise, grouped, dilated, with strides, channels
// that fill no block, several images.
const std::vector<SquareConv>& convolutions() {
  static const std::vector<SquareConv> kAll = {
      {.channels = 32, .size = 10, .results = 48, .window = 3, .pad = 1},
      {.channels = 3, .size = 20, .results = 32, .window = 7, .stride = 2, .pad = 3},
      {.channels = 24, .size = 9, .results = 40, .window = 1, .has_bias = false},
      {.channels = 48, .size = 12, .results = 48, .window = 3, .stride = 2, .pad = 1, .group = 48},
      {.channels = 64, .size = 8, .results = 64, .window = 3, .pad = 1, .group = 2},
      {.batch = 3, .channels = 16, .size = 11, .results = 17, .window = 3, .pad = 2, .dilation = 2},
  };
  return kAll;
}

Floats run_in(const SquareConv& conv, const FormatOption& option, const Floats& x, const Floats& w, const Floats& b) {
  const Shape source(conv.source());
  const Shape result(conv.result());
  const auto packed = testing::run_one(pack_graph(conv, *option.weights), {testing::floats(Shape(conv.weights()), w)});
  auto read = testing::floats(source, x);
  if (option.input != Format::plain) {
    read = testing::run_one(testing::reorder_graph(Format::plain, option.input, source), {read});
  }
  std::vector<testing::TensorData> reads = {read, packed};
  if (conv.has_bias) reads.push_back(testing::floats(Shape({conv.results}), b));
  auto written = testing::run_one(conv_graph(conv, option), reads);
  return testing::values_of<float>(
      testing::run_one(testing::reorder_graph(option.output, Format::plain, result), {written}));
}

TEST(OnednnConvolution, EqualsTheDefinitionInEveryFormat) {
  for (const SquareConv& conv : convolutions()) {
    const Graph graph = conv.graph();
    SCOPED_TRACE(conv.attributes());
    const auto count = [&](std::string_view name) {
      return *element_count(graph.tensor(testing::tensor_named(graph, name)).shape);
    };
    const Floats x = testing::numbers(count("x"), 1);
    const Floats w = testing::numbers(count("w"), 2);
    const Floats b = testing::numbers(count("b"), 3);
    const Floats expected = naive(conv, x, w, b);
    const std::vector<FormatOption> options = kernels_internal::options_of_convolution(graph, NodeId(0));
    EXPECT_THAT(options, Contains(Field(&FormatOption::output, Format::nhwc)));
    EXPECT_THAT(options, Contains(Field(&FormatOption::output, Not(Format::nhwc))));
    for (const FormatOption& option : options) {
      SCOPED_TRACE(std::string(to_string(option.input)) + " to " + std::string(to_string(option.output)));
      const Floats result = run_in(conv, option, x, w, b);
      ASSERT_EQ(result.size(), expected.size());
      // Up to 147 products of numbers below 1 are summed in another order.
      for (std::size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(result[i], expected[i], 1e-4) << i;
    }
  }
}

// The format that a network gets is the first of all of them that has blocks.
TEST(OnednnConvolution, OffersTheFirstFormatInBlocks) {
  for (const SquareConv& conv : convolutions()) {
    const Graph graph = conv.graph();
    SCOPED_TRACE(conv.attributes());
    const std::vector<FormatOption> options = kernels_internal::options_of_convolution(graph, NodeId(0));
    const auto first = std::ranges::find_if(
        options, [](const FormatOption& one) { return one.output != Format::plain && one.output != Format::nhwc; });
    ASSERT_NE(first, options.end());
    const std::vector<FormatOption> found = kernels_internal::onednn_formats()->options(graph, NodeId(0));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].input, first->input);
    EXPECT_EQ(found[0].output, first->output);
    EXPECT_EQ(found[0].weights, first->weights);
  }
}

// 20 of 32 channels exist.
TEST(OnednnConvolution, WritesZerosIntoThePadding) {
  const SquareConv conv{.channels = 16, .size = 4, .results = 20, .window = 1};
  const std::vector<FormatOption> options = kernels_internal::options_of_convolution(conv.graph(), NodeId(0));
  const Graph graph = conv_graph(conv, options.at(0));
  if (options[0].output != Format::nchw16c) GTEST_SKIP() << "this machine has blocks of 8 channels";
  const testing::TensorData packed =
      testing::run_one(pack_graph(conv, *options[0].weights), {testing::floats(Shape(conv.weights()), Floats(320, 1))});
  const auto y = testing::values_of<float>(
      testing::run_one(graph, {testing::floats(shape_in(options[0].input, Shape(conv.source())), Floats(256, 1)),
                               packed, testing::floats(Shape({20}), Floats(20, 1))}));
  ASSERT_EQ(y.size(), 512U);
  for (std::size_t i = 256; i < 512; ++i) EXPECT_EQ(y[i], i % 16 < 4 ? 17 : 0) << i;
}

TEST(OnednnConvolution, HasTheScratchOfItsDescription) {
  const SquareConv conv{.channels = 64, .size = 56, .results = 64, .window = 3, .pad = 1};
  const std::vector<FormatOption> options = kernels_internal::options_of_convolution(conv.graph(), NodeId(0));
  ASSERT_EQ(options.back().output, Format::nhwc);
  const std::vector<Kernel> offered = offered_kernels(conv_graph(conv, options.back()), NodeId(0));
  ASSERT_EQ(offered.size(), 1U);
  EXPECT_EQ(offered[0].name, "onednn.conv");
  EXPECT_TRUE(offered[0].is_memory_known);
  if (machine_key().isa.starts_with("avx512")) {
    EXPECT_EQ(offered[0].scratch, Bytes(8192)) << "one buffer of sums";
  }
}

TEST(OnednnConvolution, RefusesWeightsInAnotherOrder) {
  const SquareConv conv{.channels = 64, .size = 8, .results = 64, .window = 3, .pad = 1};
  FormatOption option = kernels_internal::options_of_convolution(conv.graph(), NodeId(0)).at(0);
  option.weights->order = "abcd";
  const Graph graph = conv_graph(conv, option);
  EXPECT_THAT(offered_kernels(graph, NodeId(0)), IsEmpty());
  EXPECT_THAT(unsupported(graph).at(0).missing, HasSubstr("its weights are [36864] in the order 'abcd'"));
}

// The pads make a result of 8 x 8, and the graph has one of 7 x 7.
TEST(OnednnConvolution, RefusesExtentsThatDisagree) {
  SquareConv conv{.channels = 64, .size = 8, .results = 64, .window = 3, .pad = 1};
  const FormatOption option = kernels_internal::options_of_convolution(conv.graph(), NodeId(0)).at(0);
  const std::string wide = conv.attributes();
  conv.size = 7;
  std::string text = print_graph(conv_graph(conv, option));
  const std::string narrow = "f32" + to_string(shape_in(option.input, Shape(conv.source())));
  conv.size = 8;
  text.replace(text.find(narrow), narrow.size(), "f32" + to_string(shape_in(option.input, Shape(conv.source()))));
  EXPECT_THAT(unsupported(testing::graph_of(text)).at(0).missing, HasSubstr("and the operator gives ["));
}

// Plain tensors would need oneDNN's fallback, which allocates its scratch in each run.
TEST(OnednnConvolution, OffersNoFormatThatNeedsTheFallback) {
  for (const SquareConv& conv : convolutions()) {
    for (const FormatOption& option : kernels_internal::options_of_convolution(conv.graph(), NodeId(0))) {
      EXPECT_NE(option.output, Format::plain);
    }
  }
}

TEST(OnednnReorder, MovesChannelsIntoBlocksAndBack) {
  const Shape model({2, 17, 3, 5});
  const Floats x = testing::numbers(2 * 17 * 3 * 5, 4);
  for (Format format : {Format::nchw16c, Format::nchw8c, Format::nhwc}) {
    const auto there =
        testing::run_one(testing::reorder_graph(Format::plain, format, model), {testing::floats(model, x)});
    EXPECT_EQ(there.extents, shape_in(format, model).extents());
    const auto back = testing::run_one(testing::reorder_graph(format, Format::plain, model), {there});
    EXPECT_EQ(testing::values_of<float>(back), x);
    if (format == Format::nhwc) continue;
    Floats lanes = testing::values_of<float>(there);
    const auto block = static_cast<std::size_t>(format == Format::nchw16c ? 16 : 8);
    const std::size_t last = 17 / block * 15 * block;  // the block of channel 16, which is its first lane
    for (std::size_t i = 0; i < 15 * block; ++i) {
      const float expected = i % block == 0 ? x[16 * 15 + i / block] : 0;
      EXPECT_EQ(lanes[last + i], expected) << i;
    }
  }
}

TEST(OnednnReorder, RefusesOtherShapes) {
  const Graph graph =
      testing::lowered_graph("Reorder(x) {input_format = \"plain\", output_format = \"nhwc\", channels = 3}",
                             {"x : f32[1,3,4,4]"}, Shape({1, 4, 4, 4}));
  EXPECT_THAT(unsupported(graph).at(0).missing, HasSubstr("and the operator gives [1,4,4,3]"));
}

}  // namespace
}  // namespace lowtide
