// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/winograd.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "lowtide/base/random.h"
#include "lowtide/kernels/blocks/convolution.h"
#include "tests/kernels/block_convolutions.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using kernels_internal::block_option;
using kernels_internal::has_winograd_kernel;
using testing::ConvCase;
using testing::Floats;
using testing::formats;
using ::testing::IsEmpty;
using testing::operands_of;
using testing::reordered;
using testing::SquareConv;
using testing::TensorData;

constexpr const char* kSquares = "blocks.winograd";
constexpr const char* kFewSquares = "blocks.winograd_narrow";

Graph with_algorithm(const Graph& graph, const std::string& algorithm) {
  std::string text = print_graph(graph);
  return testing::graph_of(text.insert(text.find("order = "), "algorithm = " + algorithm + ", "));
}

// A lowtide::Conv, with the attribute that a lowering gives it.
Graph with_winograd(const Graph& graph) { return with_algorithm(graph, "\"winograd\""); }

TensorData run_named(const Graph& graph, const char* kernel, const std::vector<TensorData>& reads, int threads = 1,
                     std::optional<int> over = std::nullopt) {
  testing::ReversedTeam team(threads);
  testing::KernelRun run(graph, kernel);
  run.threads = threads;
  run.team = &team;
  run.over = over;
  EXPECT_EQ(run.run(reads), RunStatus());
  return run.writes.at(0);
}

// The largest distance from the definition, in double.
double error_of(const ConvCase& of, const TensorData& result, Format format) {
  const Floats found = testing::values_of<float>(reordered(format, Format::plain, Shape(of.conv.result()), result));
  const Floats expected = naive(of.conv, of.x, of.w, of.b);
  EXPECT_EQ(found.size(), expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(found[i]) - expected[i]));
  }
  return largest;
}

// Groups, tiles and threads leave every bit as it is. Images have odd extents, and a dilation that does not divide them
// leaves some images of every d-th place with fewer rows than others.
TEST(Winograd, EqualsTheDefinitionInRandomShapes) {
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    Random random(seed);
    const auto up_to = [&](std::int64_t most) {
      return 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most)));
    };
    SquareConv conv{.batch = up_to(2),
                    .channels = 20 + up_to(120),
                    .size = 4 + up_to(24),
                    .results = 20 + up_to(70),
                    .window = 3,
                    .pad = static_cast<std::int64_t>(random.below(4)),
                    .dilation = up_to(3),
                    .has_bias = random.below(2) == 0};
    if (conv.size + 2 * conv.pad < 2 * conv.dilation + 1) continue;
    const ConvCase of(conv);
    for (const Format format : formats()) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " " + std::string(to_string(format)));
      const FormatOption option = block_option(conv.graph(), NodeId(0), format).value();
      const Graph graph = conv_graph(conv, option);
      if (!has_winograd_kernel(graph, NodeId(0))) continue;
      ++tried;
      const Graph squares = with_winograd(graph);
      const std::vector<TensorData> reads = operands_of(of, option);
      const TensorData alone = run_named(squares, kSquares, reads);
      ASSERT_LT(error_of(of, alone, format), 5e-5);
      for (const int threads : testing::kThreadCounts) {
        ASSERT_EQ(run_named(squares, kSquares, reads, threads).bytes, alone.bytes) << "the bits of threads";
      }
      testing::KernelRun small(squares, kSquares);
      small.caches = testing::kLeastCaches;
      ASSERT_EQ(small.run(reads), RunStatus());
      ASSERT_EQ(small.writes.at(0).bytes, alone.bytes) << "the bits of small caches";
      ASSERT_EQ(run_named(squares, kFewSquares, reads, 2).bytes, alone.bytes) << "the bits of other groups";
    }
  }
  EXPECT_GE(tried, 26 * static_cast<int>(formats().size()));
}

// The sum in the definition has 4,608 products here, and the sums at the points have 512.
TEST(Winograd, IsMorePreciseThanTheDefinition) {
  const SquareConv conv{.channels = 512, .size = 14, .results = 64, .window = 3, .pad = 1};
  const ConvCase of(conv);
  for (const Format format : formats()) {
    const FormatOption option = block_option(conv.graph(), NodeId(0), format).value();
    const Graph graph = conv_graph(conv, option);
    const std::vector<TensorData> reads = operands_of(of, option);
    const double direct = error_of(of, run_named(graph, "blocks.conv", reads), format);
    const double squares = error_of(of, run_named(with_winograd(graph), kSquares, reads), format);
    EXPECT_GT(direct, 0);
    EXPECT_LT(squares, direct);
  }
}

// With an Add of a residual and a Relu, which a square computes itself; with a gate per channel; and with Exp, whose
// padding must become zero. `of_sum` is the epilogue in float.
struct EpilogueCase {
  std::vector<std::string> nodes;
  float (*of_sum)(float sum, float residual, float gate);
};

TEST(Winograd, ComputesEpilogues) {
  const EpilogueCase cases[] = {
      {{"a = Add(t, r)", "y = Relu(a)"}, [](float t, float r, float) { return std::max(t + r, 0.0F); }},
      {{"a = Mul(t, g)", "y = Add(a, r)"},
       [](float t, float r, float g) {
         const float scaled = t * g;
         return scaled + r;
       }},
      {{"a = Mul(t, g)", "c = Mul(a, g)", "y = Abs(c)"}, [](float t, float, float g) { return std::abs(t * g * g); }},
  };
  for (const Format format : formats()) {
    for (const std::int64_t dilation : {1, 2}) {
      const SquareConv conv{
          .channels = 48, .size = 23, .results = 52, .window = 3, .pad = dilation, .dilation = dilation};
      const ConvCase of(conv);
      const FormatOption option = block_option(conv.graph(), NodeId(0), format).value();
      const Shape whole(conv.result());
      const Shape place({1, conv.results, 1, 1});
      const Floats r = testing::numbers(*element_count(whole), 5);
      const Floats g = testing::numbers(conv.results, 6);
      std::vector<TensorData> reads = operands_of(of, option);
      const Floats sums = testing::values_of<float>(
          reordered(format, Format::plain, whole, run_named(with_winograd(conv_graph(conv, option)), kSquares, reads)));
      reads.push_back(reordered(Format::plain, format, whole, testing::floats(whole, r)));
      reads.push_back(reordered(Format::plain, format, place, testing::floats(place, g)));
      const std::size_t places = sums.size() / g.size();
      for (const EpilogueCase& one : cases) {
        const Graph graph = with_winograd(graph_with_epilogue(conv, option, one.nodes));
        ASSERT_EQ(offered_kernels(graph, NodeId(0)).at(0).in_place, (std::vector<std::pair<int, int>>{{3, 0}}));
        const TensorData result = run_named(graph, kSquares, reads, 2);
        const Floats found = testing::values_of<float>(reordered(format, Format::plain, whole, result));
        for (std::size_t i = 0; i < sums.size(); ++i) {
          ASSERT_EQ(found[i], one.of_sum(sums[i], r[i], g[i / places])) << one.nodes[0] << " " << i;
        }
        EXPECT_EQ(run_named(graph, kFewSquares, reads, 1, 3).bytes, result.bytes) << "over the residual";
      }
    }
  }
}

TEST(Winograd, KeepsThePaddingZero) {
  const SquareConv conv{.channels = 32, .size = 20, .results = 36, .window = 3, .pad = 1};
  for (const Format format : formats()) {
    const ConvCase of(conv);
    const FormatOption option = block_option(conv.graph(), NodeId(0), format).value();
    const Graph graph =
        with_winograd(graph_with_epilogue(conv, option, {"a = Mul(t, g)", "c = Mul(a, r)", "y = Exp(c)"}));
    const Shape whole(conv.result());
    const Shape place({1, conv.results, 1, 1});
    std::vector<TensorData> reads = operands_of(of, option);
    reads.push_back(reordered(Format::plain, format, whole, testing::floats(whole, Floats(36 * 400, 0))));
    reads.push_back(reordered(Format::plain, format, place, testing::floats(place, Floats(36, 0))));
    const Floats y = testing::values_of<float>(run_named(graph, kSquares, reads));
    const std::size_t lanes = format == Format::nchw16c ? 16 : 8;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t channel = i / (400 * lanes) * lanes + i % lanes;
      ASSERT_EQ(y[i], channel < 36 ? 1.0F : 0.0F) << i;
    }
  }
}

// Other windows have no such algorithm. For few places, the transforms take longer than they save.
TEST(Winograd, IsForWindowsAndImagesThatGain) {
  const SquareConv gains{.channels = 64, .size = 14, .results = 64, .window = 3, .pad = 1};
  std::vector<SquareConv> others(8, gains);
  others[0].window = 5;
  others[1].stride = 2;
  others[2].group = 2;
  others[3].channels = 3;
  others[4].size = 4;
  others[5].size = 1;
  others[6].window = 1;
  others[7].size = 3;
  for (const Format format : formats()) {
    const auto is_offered = [&](const SquareConv& conv) {
      const Graph graph = conv_graph(conv, block_option(conv.graph(), NodeId(0), format).value());
      const bool has_one = has_winograd_kernel(graph, NodeId(0));
      EXPECT_EQ(offered_kernels(with_winograd(graph), NodeId(0)).size(), has_one ? 2U : 0U);
      return has_one;
    };
    EXPECT_TRUE(is_offered(gains));
    for (const SquareConv& conv : others) EXPECT_FALSE(is_offered(conv)) << conv.attributes();
  }
}

// 512 channels and results, 28 x 28 places: 196 squares. With 16 lanes, tiles have 14 squares and groups at most 28, so
// there are 7 groups of 28. With 8 lanes, tiles have 6 squares and groups at most 12: 17 groups of 12. A point of the
// source has the squares of 512 channels, and of the weights two blocks of results of a part of 64 channels; a block of
// lanes that no point uses follows each. The sums are those of the squares and two blocks. Narrow: groups of one tile,
// and parts of one block.
TEST(Winograd, PlansItsScratch) {
  const SquareConv conv{.channels = 512, .size = 28, .results = 512, .window = 3, .pad = 1};
  for (const Format format : formats()) {
    const std::int64_t lanes = block_of(format);
    const Graph graph = with_winograd(conv_graph(conv, block_option(conv.graph(), NodeId(0), format).value()));
    const auto points = [&](std::int64_t squares, std::int64_t channels) {
      return 16 * (squares * 512 + lanes + 2 * channels * lanes + lanes + 2 * squares * lanes) * 4;
    };
    for (const int threads : {1, 2, 4}) {
      const std::vector<Kernel> offered = offered_kernels(graph, NodeId(0), threads);
      ASSERT_EQ(offered.size(), 2U);
      EXPECT_EQ(offered[0].name, kSquares);
      EXPECT_EQ(offered[0].scratch, Bytes(threads * points(lanes == 16 ? 28 : 12, 64)));
      EXPECT_EQ(offered[1].name, kFewSquares);
      EXPECT_EQ(offered[1].scratch, Bytes(threads * points(lanes == 16 ? 14 : 6, lanes)));
      EXPECT_GT(offered[1].cost_seconds, 0);
    }
  }
}

// The algorithm decides the bits, so a kernel of another one does not stand in for it.
TEST(Winograd, RefusesAnotherAlgorithm) {
  const SquareConv conv{.channels = 64, .size = 14, .results = 64, .window = 3, .pad = 1};
  for (const Format format : formats()) {
    const Graph graph = conv_graph(conv, block_option(conv.graph(), NodeId(0), format).value());
    EXPECT_EQ(offered_kernels(graph, NodeId(0)).size(), 1U);
    for (const char* other : {"\"direct\"", "\"\"", "1"}) {
      EXPECT_THAT(offered_kernels(with_algorithm(graph, other), NodeId(0)), IsEmpty()) << other;
    }
  }
}

}  // namespace
}  // namespace lowtide
