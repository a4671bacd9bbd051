// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/block_convolution.h"
#include "lowtide/graph/text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "lowtide/base/random.h"
#include "lowtide/kernels/blocks/convolution.h"
#include "tests/kernels/block_convolutions.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using kernels_internal::block_convolution;
using kernels_internal::block_option;
using kernels_internal::BlockConvolution;
using kernels_internal::ConvolutionShape;
using kernels_internal::has_tiles;
using kernels_internal::packed_elements;
using kernels_internal::TileKind;
using ::testing::AllOf;
using ::testing::AnyOf;
using testing::ConvCase;
using testing::Floats;
using testing::formats;
using testing::graph_with_epilogue;
using ::testing::HasSubstr;
using testing::operands_of;
using testing::reordered;
using testing::ReversedTeam;
using testing::SquareConv;
using testing::TensorData;

// The plain result.
Floats run_case(const ConvCase& of, const FormatOption& option, int threads = 1, const CacheSizes& caches = {}) {
  const Graph graph = conv_graph(of.conv, option);
  EXPECT_EQ(offered_kernels(graph, NodeId(0), threads).at(0).name, "blocks.conv");
  ReversedTeam team(threads);
  const TensorData result = testing::run_one(graph, operands_of(of, option), threads, &team, caches);
  return testing::values_of<float>(reordered(option.output, Format::plain, Shape(of.conv.result()), result));
}

void expect_near(const Floats& found, const Floats& expected) {
  ASSERT_EQ(found.size(), expected.size());
  // Up to 800 products of numbers below 1 are summed in float.
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-4) << i;
}

TEST(BlockConvolution, EqualsTheDefinition) {
  const std::vector<SquareConv> cases = {
      {.channels = 32, .size = 10, .results = 48, .window = 3, .pad = 1},
      {.channels = 3, .size = 20, .results = 32, .window = 7, .stride = 2, .pad = 3},
      {.channels = 1, .size = 31, .results = 20, .window = 5, .pad = 2},
      {.channels = 24, .size = 9, .results = 40, .window = 1, .has_bias = false},
      {.channels = 16, .size = 7, .results = 33, .window = 1, .stride = 2},
      {.channels = 48, .size = 12, .results = 48, .window = 3, .stride = 2, .pad = 1, .group = 48},
      {.channels = 20, .size = 40, .results = 20, .window = 5, .pad = 2, .group = 20, .has_bias = false},
      {.channels = 64, .size = 8, .results = 64, .window = 3, .pad = 1, .group = 2},
      {.batch = 3, .channels = 16, .size = 11, .results = 17, .window = 3, .pad = 2, .dilation = 2},
      {.channels = 16, .size = 30, .results = 16, .window = 3, .pad = 12, .dilation = 12},
      // Most taps, or all but one, are in the padding of each tile.
      {.channels = 40, .size = 14, .results = 48, .window = 3, .pad = 12, .dilation = 12},
      {.channels = 40, .size = 14, .results = 48, .window = 3, .pad = 24, .dilation = 24},
      {.channels = 5, .size = 9, .results = 20, .window = 5, .pad = 14, .dilation = 7},
      {.channels = 20, .size = 6, .results = 20, .window = 3, .stride = 2, .pad = 6, .dilation = 6, .group = 20},
      {.channels = 16, .size = 3, .results = 16, .window = 3, .pad = 9, .dilation = 5},
      // Channels of their own, with rows of taps in the padding of all results of a tile, or of all tiles in a row.
      {.batch = 2, .channels = 20, .size = 2, .results = 20, .window = 5, .pad = 2, .group = 20},
      {.channels = 20, .size = 3, .results = 20, .window = 7, .pad = 3, .group = 20},
      {.channels = 20, .size = 15, .results = 20, .window = 7, .stride = 2, .pad = 5, .group = 20},
      {.channels = 20, .size = 1, .results = 20, .window = 3, .pad = 3, .group = 20},
      {.channels = 20, .size = 3, .results = 20, .window = 3, .pad = 9, .dilation = 5, .group = 20},
      {.batch = 2, .channels = 16, .size = 1, .results = 16, .window = 1},
      {.channels = 16, .size = 2, .results = 32, .window = 3, .pad = 2},
      {.channels = 3, .size = 33, .results = 24, .window = 4, .stride = 4},
      {.channels = 3, .size = 61, .results = 40, .window = 11, .stride = 4, .pad = 2},
      {.channels = 2, .size = 50, .results = 16, .window = 5, .stride = 4, .pad = 3, .dilation = 2},
      {.channels = 3, .size = 40, .results = 24, .window = 7, .stride = 3, .pad = 2},
      {.channels = 16, .size = 37, .results = 24, .window = 4, .stride = 4, .pad = 1},
      {.channels = 16, .size = 40, .results = 16, .window = 2, .stride = 5, .pad = 1, .dilation = 3},
  };
  for (const Format format : formats()) {
    for (const SquareConv& conv : cases) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + conv.attributes());
      const ConvCase of(conv);
      const std::optional<FormatOption> option = block_option(conv.graph(), NodeId(0), format);
      ASSERT_TRUE(option);
      expect_near(run_case(of, *option), naive(conv, of.x, of.w, of.b));
    }
  }
}

// Windows larger than the image, strides larger than the window, tiles of every width.
TEST(BlockConvolution, EqualsTheDefinitionInRandomShapes) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const auto up_to = [&](std::int64_t most) {
      return 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most)));
    };
    SquareConv conv{.batch = up_to(2),
                    .channels = up_to(40),
                    .size = up_to(33),
                    .results = up_to(50),
                    .window = up_to(4),
                    .stride = up_to(4),
                    .pad = static_cast<std::int64_t>(random.below(4)),
                    .dilation = up_to(2)};
    if (random.below(3) == 0) conv.group = conv.results = conv.channels;
    if (random.below(4) == 0) conv.pad = conv.dilation = up_to(20);
    if (conv.size + 2 * conv.pad < (conv.window - 1) * conv.dilation + 1) continue;
    const ConvCase of(conv);
    for (const Format format : formats()) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " " + std::string(to_string(format)));
      const std::optional<FormatOption> option = block_option(conv.graph(), NodeId(0), format);
      ASSERT_TRUE(option);
      const Floats alone = run_case(of, *option);
      expect_near(alone, naive(conv, of.x, of.w, of.b));
      for (const int threads : testing::kThreadCounts) {
        ASSERT_EQ(run_case(of, *option, threads), alone) << "the bits of " << threads << " threads";
      }
      ASSERT_EQ(run_case(of, *option, 3, testing::kLeastCaches), alone) << "the bits of small caches";
    }
  }
}

// A window of 3 with a padding of 1, in images of 56 x 56. With 16 lanes, a tile has 2 blocks, one row and 14 columns,
// and reads 3 rows of 16 places: 768 elements of each block of the source. With 8 lanes, it has 2 blocks, 2 rows and 3
// columns, and reads 4 rows of 5 places: 160 elements. All blocks are copied at once, if they have at most 4,096
// elements.
TEST(BlockConvolution, PlansTheScratchOfItsCopy) {
  for (const Format format : formats()) {
    const auto scratch = [&](const SquareConv& conv, int threads) {
      const FormatOption option = block_option(conv.graph(), NodeId(0), format).value();
      return offered_kernels(conv_graph(conv, option), NodeId(0), threads).at(0).scratch;
    };
    const bool is_wide = format == Format::nchw16c;
    SquareConv conv{.channels = 64, .size = 56, .results = 64, .window = 3, .pad = 1};
    const Bytes all_blocks(is_wide ? 4 * 768 * 4 : 8 * 160 * 4);
    EXPECT_EQ(scratch(conv, 1), all_blocks);
    EXPECT_EQ(scratch(conv, 2), all_blocks * 2);
    // 2 KiB elements are half of a first cache of 16 KiB.
    const FormatOption option = block_option(conv.graph(), NodeId(0), format).value();
    const CacheSizes small{Bytes(16 * 1024), Bytes(256 * 1024)};
    EXPECT_EQ(offered_kernels(conv_graph(conv, option), NodeId(0), 1, small).at(0).scratch,
              is_wide ? Bytes(768 * 4) : all_blocks);
    conv.channels = 512;
    EXPECT_EQ(scratch(conv, 1), Bytes(is_wide ? 768 * 4 : 160 * 4));
    conv.pad = 0;
    EXPECT_EQ(scratch(conv, 1), Bytes()) << "no window has padding";
  }
}

// Two rows of results are 1,000 rows of the source apart. Their tile copies a row for each, and not those between them.
TEST(BlockConvolution, CopiesNoRowsBetweenWindows) {
  ConvolutionShape shape{.source = {1, 16, 2001, 10},
                         .weights = {16, 16, 1, 3},
                         .result = {1, 16, 3, 10},
                         .strides = {1000, 1},
                         .gaps = {0, 0},
                         .pads_begin = {0, 1},
                         .pads_end = {0, 1},
                         .input = Format::nchw16c,
                         .output = Format::nchw16c};
  for (const Format format : formats()) {
    shape.input = shape.output = format;
    const std::optional<BlockConvolution> made = block_convolution(shape);
    ASSERT_TRUE(made);
    EXPECT_LE(made->copied_rows(made->tile_rows), 2);
  }
}

// The channels of a group do not fill a block.
TEST(BlockConvolution, LeavesThinGroupsToTheLibrary) {
  const SquareConv conv{.channels = 64, .size = 8, .results = 64, .window = 3, .pad = 1, .group = 16};
  for (const Format format : formats()) EXPECT_FALSE(block_option(conv.graph(), NodeId(0), format));
}

// 2^61 multiplied by the rows of a window would not fit, nor would the padded weights or the products of huge images.
TEST(BlockConvolution, LeavesHugeWindowsAlone) {
  ConvolutionShape shape{.source = {1, 16, 1, 1},
                         .weights = {16, 16, 1, 1},
                         .result = {1, 16, 1, 1},
                         .strides = {std::int64_t{1} << 61, 1},
                         .gaps = {0, 0},
                         .pads_begin = {0, 0},
                         .pads_end = {0, 0},
                         .input = Format::nchw16c,
                         .output = Format::nchw16c};
  EXPECT_FALSE(block_convolution(shape));
  shape.strides[0] = 1;
  EXPECT_EQ(block_convolution(shape).has_value(), has_tiles(16));
  shape.source = shape.result = {1, 16, std::int64_t{1} << 29, std::int64_t{1} << 29};
  EXPECT_EQ(block_convolution(shape).has_value(), has_tiles(16));
  shape.weights = {std::int64_t{1} << 30, std::int64_t{1} << 30, 1, 1};
  EXPECT_FALSE(block_convolution(shape));
}

TEST(BlockConvolution, RefusesWeightsInAnotherOrder) {
  const SquareConv conv{.channels = 64, .size = 8, .results = 64, .window = 3, .pad = 1};
  for (const Format format : formats()) {
    FormatOption option = block_option(conv.graph(), NodeId(0), format).value();
    option.weights->order = format == Format::nchw16c ? "planes16" : "planes8";
    const Graph graph = conv_graph(conv, option);
    EXPECT_TRUE(offered_kernels(graph, NodeId(0)).empty());
    EXPECT_THAT(unsupported(graph).at(0).missing, HasSubstr("oneDNN does not read"));
  }
}

// The graph with another extent in the place of the 64 biases.
Graph with_biases(const Graph& graph, const std::string& shape) {
  std::string text = print_graph(graph);
  const std::string of = "b : f32[64]";
  text.replace(text.find(of), of.size(), "b : f32" + shape);
  return testing::graph_of(text);
}

TEST(BlockConvolution, RefusesAnotherNumberOfBiasesThanChannels) {
  const SquareConv conv{.channels = 64, .size = 8, .results = 64, .window = 3, .pad = 1};
  for (const Format format : formats()) {
    const Graph lowered = conv_graph(conv, block_option(conv.graph(), NodeId(0), format).value());
    EXPECT_FALSE(offered_kernels(with_biases(lowered, "[64]"), NodeId(0)).empty());
    for (const char* shape : {"[]", "[0]", "[1]", "[63]", "[65]", "[64,1]"}) {
      EXPECT_TRUE(offered_kernels(with_biases(lowered, shape), NodeId(0)).empty()) << shape;
      EXPECT_FALSE(block_option(with_biases(conv.graph(), shape), NodeId(0), format)) << shape;
      EXPECT_THAT(unsupported(with_biases(conv.graph(), shape)).at(0).missing,
                  AllOf(HasSubstr(shape), AnyOf(HasSubstr("have the shape [64],"), HasSubstr("needs [64],"))));
    }
  }
}

// 40 results are 3 blocks of 16, and 20 channels are 2: 3 * 2 * 9 * 256. With three channels, 3 * 9 * 3 * 16.
TEST(WeightsOrder, HasTheElementsOfItsBlocks) {
  EXPECT_EQ(packed_elements({TileKind::blocks, 16}, Shape({40, 20, 3, 3}), 1), 13824);
  EXPECT_EQ(packed_elements({TileKind::planes, 16}, Shape({40, 3, 3, 3}), 1), 1296);
  EXPECT_EQ(packed_elements({TileKind::channels, 8}, Shape({20, 1, 3, 3}), 20), 3 * 9 * 8);
  EXPECT_EQ(packed_elements({TileKind::channels, 8}, Shape({20, 2, 3, 3}), 10), std::nullopt);
  EXPECT_EQ(packed_elements({TileKind::blocks, 8}, Shape({20, 2, 3, 3}), 10), std::nullopt);
  EXPECT_EQ(kernels_internal::weights_order("channels16")->lanes, 16);
  EXPECT_FALSE(kernels_internal::weights_order("blocks4"));
}

// An epilogue with a residual and a gate per channel, for a convolution of 20 channels.
class BlockEpilogue : public ::testing::Test {
 protected:
  static constexpr std::int64_t kResults = 20;
  const SquareConv conv_{.channels = 24, .size = 9, .results = kResults, .window = 3, .pad = 1};
};

// sigmoid(t * g + r) has the bits of float functions on the sums of a run without epilogue, whose padding is zero.
TEST_F(BlockEpilogue, ReadsResidualsAndGates) {
  for (const Format format : formats()) {
    const ConvCase of(conv_);
    const FormatOption option = block_option(conv_.graph(), NodeId(0), format).value();
    const Graph graph = graph_with_epilogue(conv_, option, {"a = Mul(t, g)", "y = Add(a, r)"});
    const Shape whole(conv_.result());
    const Floats r = testing::numbers(*element_count(whole), 5);
    const Floats g = testing::numbers(kResults, 6);
    std::vector<TensorData> reads = operands_of(of, option);
    reads.push_back(reordered(Format::plain, format, whole, testing::floats(whole, r)));
    reads.push_back(
        reordered(Format::plain, format, Shape({1, kResults, 1, 1}), testing::floats(Shape({1, kResults, 1, 1}), g)));
    const std::vector<Kernel> offered = offered_kernels(graph, NodeId(0));
    ASSERT_EQ(offered.at(0).in_place, (std::vector<std::pair<int, int>>{{3, 0}}));
    const Floats products = run_case(of, option);
    const Floats found =
        testing::values_of<float>(reordered(format, Format::plain, whole, testing::run_one(graph, reads)));
    const std::size_t places = products.size() / kResults;
    for (std::size_t i = 0; i < products.size(); ++i) {
      const float scaled = products[i] * g[i / places];
      ASSERT_EQ(found[i], scaled + r[i]) << i;
    }
    testing::KernelRun over(graph, "blocks.conv");
    over.over = 3;
    ASSERT_EQ(over.run(reads), RunStatus());
    EXPECT_EQ(testing::values_of<float>(reordered(format, Format::plain, whole, over.writes[0])), found);
  }
}

// The bounds of a Clip of an older model are attributes. Lanes without a channel are 0, even if the bounds exclude 0.
TEST_F(BlockEpilogue, ClipsToAttributes) {
  for (const Format format : formats()) {
    const ConvCase of(conv_);
    const FormatOption option = block_option(conv_.graph(), NodeId(0), format).value();
    const Shape whole(conv_.result());
    const Floats r = testing::numbers(*element_count(whole), 5);
    std::vector<TensorData> reads = operands_of(of, option);
    reads.push_back(reordered(Format::plain, format, whole, testing::floats(whole, r)));
    reads.push_back(testing::floats(Shape({1, kResults, 1, 1}), Floats(kResults, 0)));
    reads.back() = reordered(Format::plain, format, Shape({1, kResults, 1, 1}), reads.back());
    const Floats products = run_case(of, option);
    for (const auto& [low, high] : {std::pair(-0.5F, 0.25F), std::pair(0.125F, 6.0F)}) {
      const std::string clip = "y = Clip(a) {min = " + std::to_string(low) + ", max = " + std::to_string(high) + "}";
      const Graph graph = graph_with_epilogue(conv_, option, {"a = Add(t, r)", clip});
      const TensorData result = testing::run_one(graph, reads);
      const Floats found = testing::values_of<float>(reordered(format, Format::plain, whole, result));
      for (std::size_t i = 0; i < products.size(); ++i) {
        ASSERT_EQ(found[i], std::clamp(products[i] + r[i], low, high)) << i;
      }
      const Floats y = testing::values_of<float>(result);
      for (std::size_t lane = y.size() - 1; lane >= y.size() - 4; --lane) ASSERT_EQ(y[lane], 0) << lane;
    }
  }
}

// One loop computes a HardSwish that is written out, or a LeakyRelu and a Max, with the bits of float functions. Lanes
// without a channel are 0, even where the function of 0 is not.
TEST_F(BlockEpilogue, ComputesOnePatternOfNumbers) {
  struct Pattern {
    std::vector<std::string> nodes;
    std::vector<float> numbers;  // s and u
    float (*function)(float);
  };
  const std::vector<Pattern> patterns = {
      {{"a = Add(t, s)", "c = Clip(a) {min = 0.0, max = 6.0}", "d = Mul(t, c)", "y = Div(d, u)"},
       {3, 6},
       [](float x) { return x * std::clamp(x + 3.0F, 0.0F, 6.0F) / 6.0F; }},
      {{"a = LeakyRelu(t) {alpha = 0.25}", "y = Max(a, s)"},
       {-0.125F, 1},
       [](float x) { return std::max(x < 0 ? 0.25F * x : x, -0.125F); }},
      {{"a = LeakyRelu(t)", "y = Max(a, s)"}, {0.5F, 1}, [](float x) { return std::max(x, 0.5F); }},
      {{"a = Mul(t, s)", "y = Add(u, a)"}, {0.75F, 0.25F}, [](float x) { return x * 0.75F + 0.25F; }}};
  for (const Format format : formats()) {
    const ConvCase of(conv_);
    const FormatOption option = block_option(conv_.graph(), NodeId(0), format).value();
    const Shape whole(conv_.result());
    const Floats products = run_case(of, option);
    for (const Pattern& pattern : patterns) {
      std::vector<TensorData> reads = operands_of(of, option);
      reads.push_back(reordered(Format::plain, format, whole, testing::floats(whole, Floats(products.size(), 0))));
      reads.push_back(reordered(Format::plain, format, Shape({1, kResults, 1, 1}),
                                testing::floats(Shape({1, kResults, 1, 1}), Floats(kResults, 0))));
      for (const float number : pattern.numbers) reads.push_back(testing::floats(Shape(), {number}));
      const Graph graph = graph_with_epilogue(conv_, option, pattern.nodes, {"s", "u"});
      const TensorData result = testing::run_one(graph, reads);
      const Floats found = testing::values_of<float>(reordered(format, Format::plain, whole, result));
      for (std::size_t i = 0; i < products.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(pattern.function(products[i])))
            << pattern.nodes[0] << " " << i;
      }
      const Floats y = testing::values_of<float>(result);
      for (std::size_t lane = y.size() - 4; lane < y.size(); ++lane) ASSERT_EQ(y[lane], 0) << lane;
    }
  }
}

// exp(0) is 1, and the lanes without a channel must be 0.
TEST_F(BlockEpilogue, KeepsThePaddingZero) {
  for (const Format format : formats()) {
    const ConvCase of(conv_);
    const FormatOption option = block_option(conv_.graph(), NodeId(0), format).value();
    const Graph graph = graph_with_epilogue(conv_, option, {"a = Mul(t, g)", "c = Add(a, r)", "y = Exp(c)"});
    const Shape whole(conv_.result());
    std::vector<TensorData> reads = operands_of(of, option);
    reads.push_back(reordered(Format::plain, format, whole, testing::floats(whole, Floats(kResults * 81, 0))));
    reads.push_back(reordered(Format::plain, format, Shape({1, kResults, 1, 1}),
                              testing::floats(Shape({1, kResults, 1, 1}), Floats(kResults, 0))));
    const Floats y = testing::values_of<float>(testing::run_one(graph, reads));
    const std::size_t lanes = format == Format::nchw16c ? 16 : 8;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t channel = i / (81 * lanes) * lanes + i % lanes;
      ASSERT_EQ(y[i], channel < kResults ? 1.0F : 0.0F) << i;
    }
  }
}

}  // namespace
}  // namespace lowtide
