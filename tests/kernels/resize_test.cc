// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/kernels/supported.h"
#include "tests/kernels/one_node.h"
#include "tests/kernels/reversed_team.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::floats;
using testing::halves;
using ::testing::HasSubstr;
using testing::one_node;
using testing::OneNode;

TEST(Resize, MovesElementsOfAnyType) {
  OneNode node = one_node("x : i8[1,2], s : f32[2]", "Resize(x, _, s) {mode = \"nearest\"}", "i8[1,4]");
  node.run_ok({{-1, 2}, {}, floats({1, 2})});
  EXPECT_THAT(node.result<std::int8_t>(), ElementsAre(-1, -1, 2, 2));
}

// Position i of the result is (i + 0.5) / 2 - 0.5 of the operand: -0.25, 0.25, 0.75, 1.25.
TEST(Resize, BlendsTwoElementsPerAxis) {
  OneNode node = one_node("x : f32[1,2], s : f32[2]", "Resize(x, _, s) {mode = \"linear\"}", "f32[1,4]");
  node.run_ok({floats({0, 8}), {}, floats({1, 2})});
  EXPECT_THAT(node.result<float>(), ElementsAre(0, 2, 6, 8));
  OneNode column = one_node("x : f32[2,1], s : f32[2]", "Resize(x, _, s) {mode = \"linear\"}", "f32[4,1]");
  column.run_ok({floats({0, 8}), {}, floats({2, 1})});
  EXPECT_THAT(column.result<float>(), ElementsAre(0, 2, 6, 8));
}

TEST(Resize, BlendsF16) {
  OneNode node = one_node("x : f16[2], s : f32[1]", "Resize(x, _, s) {mode = \"linear\"}", "f16[4]");
  node.run_ok({halves({0, 0x4800}), {}, floats({2})});  // 0x4800 is 8
  EXPECT_THAT(node.result<std::uint16_t>(), ElementsAre(0, 0x4000, 0x4600, 0x4800));
}

// Four times as many rows and columns of 2 x 3 planes of 20 x 24, compared with the formula: position i of the result
// is (i + 0.5) / 4 - 0.5 of the operand, or its first or last element. There are enough elements for two threads.
TEST(Resize, BlendsRowsOfPlanesOnTwoThreads) {
  std::vector<float> x(2 * 3 * 20 * 24);
  for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<float>(at * 37 % 101) / 8;
  OneNode node = one_node("x : f32[2,3,20,24], s : f32[4]", "Resize(x, _, s) {mode = \"linear\"}", "f32[2,3,80,96]");
  node.run_ok({floats(x), {}, floats({1, 1, 4, 4})});
  const std::vector<float> alone = node.result<float>();
  const auto place = [](std::int64_t at, std::int64_t in) {
    return std::clamp((static_cast<double>(at) + 0.5) / 4 - 0.5, 0.0, static_cast<double>(in - 1));
  };
  for (std::int64_t at = 0; at < std::int64_t{6 * 80 * 96}; ++at) {
    const double down = place(at / 96 % 80, 20);
    const double across = place(at % 96, 24);
    const auto row = static_cast<std::int64_t>(down);
    const auto column = static_cast<std::int64_t>(across);
    const auto value = [&](std::int64_t r, std::int64_t c) {
      return static_cast<double>(x[static_cast<std::size_t>((at / (80 * 96) * 20 + std::min<std::int64_t>(r, 19)) * 24 +
                                                            std::min<std::int64_t>(c, 23))]);
    };
    const double right = across - static_cast<double>(column);
    const double below = down - static_cast<double>(row);
    const double upper = value(row, column) * (1 - right) + value(row, column + 1) * right;
    const double lower = value(row + 1, column) * (1 - right) + value(row + 1, column + 1) * right;
    ASSERT_NEAR(alone[static_cast<std::size_t>(at)], upper * (1 - below) + lower * below, 1e-5) << at;
  }
  for (const int threads : testing::kThreadCounts) {
    testing::ReversedTeam team(threads);
    node.team = &team;
    node.run_ok({floats(x), {}, floats({1, 1, 4, 4})});
    EXPECT_EQ(node.result<float>(), alone) << threads;
  }
  OneNode nearest =
      one_node("x : f32[2,3,20,24], s : f32[4]", "Resize(x, _, s) {mode = \"nearest\"}", "f32[2,3,80,96]");
  nearest.run_ok({floats(x), {}, floats({1, 1, 4, 4})});
  const std::vector<float> moved = nearest.result<float>();
  for (std::int64_t at = 0; at < std::int64_t{6 * 80 * 96}; ++at) {
    const std::int64_t from = (at / (80 * 96) * 20 + at / 96 % 80 / 4) * 24 + at % 96 / 4;
    ASSERT_EQ(moved[static_cast<std::size_t>(at)], x[static_cast<std::size_t>(from)]) << at;
  }
  for (const int threads : testing::kThreadCounts) {
    testing::ReversedTeam team(threads);
    nearest.team = &team;
    nearest.run_ok({floats(x), {}, floats({1, 1, 4, 4})});
    EXPECT_EQ(nearest.result<float>(), moved) << threads;
  }
}

// With antialias, halving four elements weighs 1/8, 3/8, 3/8, 1/8 of the neighbors of 0.5 and 2.5. Elements in front of
// the first one have its value.
TEST(Resize, WidensTheTapsWithAntialias) {
  OneNode node = one_node("x : f32[4], s : f32[1]", "Resize(x, _, s) {antialias = 1, mode = \"linear\"}", "f32[2]");
  node.run_ok({floats({0, 8, 16, 24}), {}, floats({0.5F})});
  EXPECT_THAT(node.result<float>(), ElementsAre((0 + 3 * 0 + 3 * 8 + 16) / 8.0F, (8 + 3 * 16 + 3 * 24 + 24) / 8.0F));
}

TEST(Resize, OfOpset10RoundsDown) {
  OneNode node = one_node("x : i32[3], s : f32[1]", "Resize(x, s) {lowtide_since = 10, mode = \"nearest\"}", "i32[6]");
  node.run_ok({{1, 2, 3}, floats({2})});
  EXPECT_THAT(node.result<std::int32_t>(), ElementsAre(1, 1, 2, 2, 3, 3));
}

TEST(Resize, RefusesScalesThatAreNotPositive) {
  OneNode node = one_node("x : i32[3], s : f32[1]", "Resize(x, _, s)", "i32[3]");
  EXPECT_EQ(node.run({{1, 2, 3}, {}, floats({-1})}), (RunStatus{RunCode::bad_extents, 2}));
  EXPECT_EQ(node.run({{1, 2, 3}, {}, floats({1e30F})}), (RunStatus{RunCode::bad_extents, 2}));
}

TEST(Resize, OfIntegersIsNotBlended) {
  const OneNode node = one_node("x : i32[3], s : f32[1]", "Resize(x, _, s) {mode = \"linear\"}", "i32[6]");
  EXPECT_EQ(node.missing(), "kernels have modes linear and cubic of f32, f16 and bf16");
}

// Each element is multiplied by the taps 1 and 10, two places apart from the next element.
TEST(ConvTranspose, AddsABiasWhereNothingElseIs) {
  OneNode node = one_node("x : f32[1,1,2], w : f32[1,1,2], b : f32[1]",
                          "ConvTranspose(x, w, b) {output_padding = [1], strides = [3]}", "f32[1,1,6]");
  node.run_ok({floats({1, 2}), floats({1, 10}), floats({0.5F})});
  EXPECT_THAT(node.result<float>(), ElementsAre(1.5F, 10.5F, 0.5F, 2.5F, 20.5F, 0.5F));
}

// The element at place 3 i is multiplied by the taps 1 and 10. 2 * 3 = 6 elements would have one more than the windows.
TEST(ConvTranspose, WithTheSameExtentsEndsWithTheLastWindow) {
  for (const char* pad : {"SAME_UPPER", "SAME_LOWER"}) {
    OneNode node =
        one_node("x : f32[1,1,2], w : f32[1,1,2]",
                 std::string("ConvTranspose(x, w) {auto_pad = \"") + pad + "\", strides = [3]}", "f32[1,1,5]");
    node.run_ok({floats({1, 2}), floats({1, 10})});
    EXPECT_THAT(node.result<float>(), ElementsAre(1, 10, 0, 2, 20)) << pad;
  }
}

TEST(ConvTranspose, RefusesAnotherNumberOfBiasesThanChannels) {
  const auto missing = [](const std::string& bias) {
    const Graph graph =
        testing::graph_of("graph \"g\" {\n  input x : f32[1,1,2]\n  input w : f32[1,3,2]\n  input b : f32" + bias +
                          "\n  y = ConvTranspose(x, w, b) : f32[1,3,3]\n  output y\n}\n");
    const std::vector<UnsupportedNode> nodes = unsupported(graph);
    return nodes.empty() ? "" : nodes.front().missing;
  };
  EXPECT_EQ(missing("[3]"), "");
  EXPECT_THAT(missing("[2]"), AllOf(HasSubstr("'b' is f32[2]"), HasSubstr("the shape [3],")));
}

// 7 x 11 elements are more than the kernel takes at once, and so are 3 x 3 taps. 3 channels give 2 results.
// Column x meets tap t at 2 x - 1 + t; row y at 3 y - 2 + 2 t. Small whole numbers are exact in any order.
TEST(ConvTranspose, AddsTheProductsOfAllElementsAndTaps) {
  constexpr int kHeight = 22;  // 3 x 6 + 2 x 2 + 1 - 2 - 1 + 2
  constexpr int kWidth = 22;   // 2 x 10 + 2 + 1 - 1
  std::vector<float> x;
  std::vector<float> w;
  for (int at = 0; at < 3 * 7 * 11; ++at) x.push_back(static_cast<float>(at * 7 % 13 - 6));
  for (int at = 0; at < 3 * 2 * 9; ++at) w.push_back(static_cast<float>(at * 5 % 11 - 5));
  std::vector<float> expected(2UL * kHeight * kWidth, 0.0F);
  for (int at = 0; at < 3 * 7 * 11 * 2 * 9; ++at) {
    const int channel = at / (7 * 11 * 2 * 9);
    const int element = at / (2 * 9) % (7 * 11);
    const int result = at / 9 % 2;
    const int row = 3 * (element / 11) - 2 + 2 * (at % 9 / 3);
    const int column = 2 * (element % 11) - 1 + at % 3;
    if (row < 0 || row >= kHeight || column < 0 || column >= kWidth) continue;
    expected[static_cast<std::size_t>((result * kHeight + row) * kWidth + column)] +=
        x[static_cast<std::size_t>(channel * 77 + element)] *
        w[static_cast<std::size_t>((channel * 2 + result) * 9 + at % 9)];
  }
  OneNode node = one_node("x : f32[1,3,7,11], w : f32[3,2,3,3]",
                          "ConvTranspose(x, w) {dilations = [2,1], output_padding = [2,0], pads = [2,1,1,0], "
                          "strides = [3,2]}",
                          "f32[1,2,22,22]");
  for (const int threads : testing::kThreadCounts) {
    testing::ReversedTeam team(threads);
    node.team = &team;
    node.run_ok({floats(x), floats(w)});
    EXPECT_EQ(node.result<float>(), expected) << threads;
  }
}

// A thread copies 64 elements and 16 taps of each of 3 channels: (64 + 16) * 3 * 4 bytes.
TEST(ConvTranspose, PlansTheScratchOfEachThread) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[1,3,20,20]
    input w : f32[3,5,2,2]
    y = ConvTranspose(x, w) {strides = [2, 2]} : f32[1,5,40,40]
    output y
  })");
  for (const int threads : testing::kThreadCounts) {
    EXPECT_EQ(offered_kernels(graph, NodeId(0), threads).at(0).scratch, Bytes(threads * (64 + 16) * 3 * 4));
  }
}

TEST(ConvTranspose, KeepsGroupsApart) {
  OneNode node = one_node("x : f32[1,2,1], w : f32[2,2,1]", "ConvTranspose(x, w) {group = 2}", "f32[1,4,1]");
  node.run_ok({floats({1, 2}), floats({1, 10, 100, 1000})});
  EXPECT_THAT(node.result<float>(), ElementsAre(1, 10, 200, 2000));
}

// Only one of 2^60 taps is within the operand, so no loop may visit all of them.
TEST(Pools, MayHaveWindowsThatAreMuchLargerThanTheirOperand) {
  const std::string window = "{kernel_shape = [1073741824,1073741824], pads = [1073741823,1073741823,0,0]}";
  for (const char* type : {"MaxPool", "AveragePool", "LpPool"}) {
    OneNode node = one_node("x : f32[1,1,1,1]", std::string(type) + "(x) " + window, "f32[1,1,1,1]");
    for (const int threads : testing::kThreadCounts) {
      testing::ReversedTeam team(threads);
      node.team = &team;
      node.run_ok({floats({3})});
      EXPECT_THAT(node.result<float>(), ElementsAre(3)) << type;
    }
  }
}

}  // namespace
}  // namespace lowtide
