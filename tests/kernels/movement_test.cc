// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/kernels/one_node.h"
#include "tests/kernels/reversed_team.h"
#include "tests/testing/walked_slice.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::one_node;
using testing::OneNode;

constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();

TEST(Reshape, CopiesExtentsForZeroAndDerivesOneExtent) {
  OneNode reshape = one_node("x : i32[2,3], shape : i64[3]", "Reshape(x, shape)", "i32[2,1,3]");
  reshape.run_ok({{0, 1, 2, 3, 4, 5}, {0, 1, -1}});
  EXPECT_THAT(reshape.result<std::int32_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(reshape.run({{0, 1, 2, 3, 4, 5}, {-1, -1, 3}}).code, RunCode::bad_extents);
}

TEST(Reshape, AllowsAnExtentOfZero) {
  OneNode reshape = one_node("x : i32[0,3], shape : i64[2]", "Reshape(x, shape) {allowzero = 1}", "i32[3,0]");
  reshape.run_ok({{}, {3, 0}});
  EXPECT_EQ(reshape.run({{}, {0, 3}}).code, RunCode::bad_extents);
}

// The product of these extents has more than 64 bits.
TEST(Reshape, RefusesExtentsOfAnySize) {
  OneNode reshape = one_node("x : i32[2,3], shape : i64[3]", "Reshape(x, shape)", "i32[<=6,<=6,<=6]");
  EXPECT_EQ(reshape.run({{0, 1, 2, 3, 4, 5}, {kMost, kMost, kMost}}).code, RunCode::bad_extents);
  EXPECT_EQ(reshape.run({{0, 1, 2, 3, 4, 5}, {kMost, kMost, -1}}).code, RunCode::bad_extents);
}

// The file declares 2 x 3, and the shape that arrives says something else.
TEST(Reshape, RefusesExtentsThatTheModelDoesNotDeclare) {
  OneNode reshape = one_node("x : i32[6], shape : i64[2]", "Reshape(x, shape)", "i32[2,3]");
  EXPECT_EQ(reshape.run({{0, 1, 2, 3, 4, 5}, {3, 2}}).code, RunCode::bad_extents);
}

TEST(Slice, ClampsNegativeAndHugePositions) {
  OneNode last = one_node("x : i32[5], s : i64[1], e : i64[1]", "Slice(x, s, e)", "i32[<=5]");
  last.run_ok({{0, 1, 2, 3, 4}, {-2}, {kMost}});
  EXPECT_THAT(last.result<std::int32_t>(), ElementsAre(3, 4));
  last.run_ok({{0, 1, 2, 3, 4}, {-100}, {-3}});
  EXPECT_THAT(last.result<std::int32_t>(), ElementsAre(0, 1));
  last.run_ok({{0, 1, 2, 3, 4}, {4}, {2}});
  EXPECT_THAT(last.extents(), ElementsAre(0));
}

TEST(Slice, GoesBackwardsToTheFirstElement) {
  OneNode back =
      one_node("x : i32[5], s : i64[1], e : i64[1], a : i64[1], t : i64[1]", "Slice(x, s, e, a, t)", "i32[<=5]");
  back.run_ok({{0, 1, 2, 3, 4}, {kMost}, {kLeast}, {-1}, {-2}});
  EXPECT_THAT(back.result<std::int32_t>(), ElementsAre(4, 2, 0));
  back.run_ok({{0, 1, 2, 3, 4}, {3}, {0}, {0}, {-1}});
  EXPECT_THAT(back.result<std::int32_t>(), ElementsAre(3, 2, 1));
  back.run_ok({{0, 1, 2, 3, 4}, {1}, {kLeast}, {0}, {kLeast}});  // a step beyond the axis
  EXPECT_THAT(back.result<std::int32_t>(), ElementsAre(1));
}

// All 5 * 15 * 15 * 8 cases. A backward slice from in front of the axis takes element 0: [0, 1, 2] from -9 to -9 in
// steps of -1 is [0].
TEST(Slice, TakesWhatOnnxDefinesOnSmallAxes) {
  EXPECT_THAT(testing::walked_slice(3, -9, -9, -1), ElementsAre(0));
  for (std::int64_t extent = 0; extent < 5; ++extent) {
    std::vector<std::int64_t> x(static_cast<std::size_t>(extent));
    std::iota(x.begin(), x.end(), 0);
    const std::string axis = std::to_string(extent);
    OneNode slice = one_node("x : i64[" + axis + "], s : i64[1], e : i64[1], a : i64[1], t : i64[1]",
                             "Slice(x, s, e, a, t)", "i64[<=" + axis + "]");
    for (std::int64_t start = -7; start <= 7; ++start) {
      for (std::int64_t end = -7; end <= 7; ++end) {
        for (const std::int64_t step : {-5, -3, -2, -1, 1, 2, 3, 5}) {
          slice.run_ok({testing::raw_elements(x), {start}, {end}, {0}, {step}});
          ASSERT_EQ(slice.result<std::int64_t>(), testing::walked_slice(extent, start, end, step))
              << extent << " from " << start << " to " << end << " by " << step;
        }
      }
    }
  }
}

// Element [a, b, c] of 7 x 90 x 61 moves to [c, a, b]. Each thread has a part of the axis of 90.
TEST(Transpose, IsDividedAmongThreads) {
  std::vector<float> x(std::size_t{7} * 90 * 61);
  std::vector<float> moved(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i);
    moved[i % 61 * (7 * 90) + i / 61] = x[i];
  }
  for (const int threads : testing::kThreadCounts) {
    testing::ReversedTeam team(threads);
    OneNode one = one_node("x : f32[7,90,61]", "Transpose(x) {perm = [2, 0, 1]}", "f32[61,7,90]");
    one.team = &team;
    one.run_ok({testing::floats(x)});
    EXPECT_EQ(one.result<float>(), moved);
    EXPECT_EQ(team.calls, threads == 1 ? 0 : 1);
  }
}

TEST(Transpose, ReordersAxes) {
  OneNode transpose = one_node("x : u8[2,3,2]", "Transpose(x) {perm = [2, 0, 1]}", "u8[2,2,3]");
  transpose.run_ok({{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}});
  EXPECT_THAT(transpose.result<std::uint8_t>(), ElementsAre(0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11));
}

TEST(Expand, RepeatsInBothDirections) {
  OneNode expand = one_node("x : i32[2,1,3], shape : i64[2]", "Expand(x, shape)", "i32[2,2,3]");
  expand.run_ok({{0, 1, 2, 3, 4, 5}, {2, 1}});
  EXPECT_THAT(expand.result<std::int32_t>(), ElementsAre(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
}

TEST(Tile, RepeatsEachAxis) {
  OneNode tile = one_node("x : i32[1,2], repeats : i64[2]", "Tile(x, repeats)", "i32[2,4]");
  tile.run_ok({{7, 8}, {2, 2}});
  EXPECT_THAT(tile.result<std::int32_t>(), ElementsAre(7, 8, 7, 8, 7, 8, 7, 8));
}

TEST(Split, GivesTheRestToTheLastPart) {
  OneNode split = one_node("x : i32[2,5]", "Split(x) {axis = 1, num_outputs = 3}", "i32[2,2], i32[2,2], i32[2,1]");
  split.run_ok({{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}});
  EXPECT_THAT(split.result<std::int32_t>(1), ElementsAre(2, 3, 7, 8));
  EXPECT_THAT(split.result<std::int32_t>(2), ElementsAre(4, 9));
}

TEST(Concat, JoinsAlongANegativeAxis) {
  OneNode concat = one_node("x : i32[2,1], y : i32[2,2]", "Concat(x, y) {axis = -1}", "i32[2,3]");
  concat.run_ok({{0, 3}, {1, 2, 4, 5}});
  EXPECT_THAT(concat.result<std::int32_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

std::vector<std::int32_t> padded(const std::string& mode, std::int64_t before, std::int64_t after) {
  OneNode pad = one_node("x : i32[3], pads : i64[2]", "Pad(x, pads) {mode = \"" + mode + "\"}", "i32[<=12]");
  pad.run_ok({{1, 2, 3}, {before, after}});
  return pad.result<std::int32_t>();
}

TEST(Pad, ReflectsRepeatsAndWraps) {
  EXPECT_THAT(padded("reflect", 5, 0), ElementsAre(2, 1, 2, 3, 2, 1, 2, 3));  // reflected more than once
  EXPECT_THAT(padded("edge", 2, 1), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(padded("wrap", 4, 1), ElementsAre(3, 1, 2, 3, 1, 2, 3, 1));
  EXPECT_THAT(padded("constant", 1, 1), ElementsAre(0, 1, 2, 3, 0));
}

TEST(Pad, CropsForNegativePads) {
  EXPECT_THAT(padded("constant", -1, 1), ElementsAre(2, 3, 0));
  EXPECT_THAT(padded("edge", 1, -2), ElementsAre(1, 1));
  EXPECT_THAT(padded("constant", -2, -1), IsEmpty());
}

TEST(Pad, PadsOnlyTheGivenAxes) {
  OneNode pad = one_node("x : i32[1,2], pads : i64[2], v : i32[], axes : i64[1]", "Pad(x, pads, v, axes)", "i32[1,4]");
  pad.run_ok({{1, 2}, {1, 1}, {9}, {-1}});
  EXPECT_THAT(pad.result<std::int32_t>(), ElementsAre(9, 1, 2, 9));
}

TEST(Trilu, AllowsDiagonalsOutOfRange) {
  OneNode upper = one_node("x : i64[2,3], k : i64[]", "Trilu(x, k)", "i64[2,3]");
  upper.run_ok({{1, 2, 3, 4, 5, 6}, {1}});
  EXPECT_THAT(upper.result<std::int64_t>(), ElementsAre(0, 2, 3, 0, 0, 6));
  upper.run_ok({{1, 2, 3, 4, 5, 6}, {kMost}});
  EXPECT_THAT(upper.result<std::int64_t>(), ElementsAre(0, 0, 0, 0, 0, 0));
  OneNode lower = one_node("x : i64[2,3], k : i64[]", "Trilu(x, k) {upper = 0}", "i64[2,3]");
  lower.run_ok({{1, 2, 3, 4, 5, 6}, {kMost}});
  EXPECT_THAT(lower.result<std::int64_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

// A block of 2 x 2. DCR takes the block in front of the channels, CRD behind them.
TEST(DepthToSpace, TakesTheBlockInFrontOfOrBehindTheChannels) {
  for (const auto& [mode, second] : {std::pair("DCR", 2), std::pair("CRD", 1)}) {
    OneNode node = one_node("x : i32[1,8,1,1]", std::string("DepthToSpace(x) {blocksize = 2, mode = \"") + mode + "\"}",
                            "i32[1,2,2,2]");
    node.run_ok({{0, 1, 2, 3, 4, 5, 6, 7}});
    EXPECT_EQ(node.result<std::int32_t>()[1], second) << mode;
  }
}

TEST(Range, CountsUpwardsAndDownwards) {
  OneNode range = one_node("s : i64[], e : i64[], d : i64[]", "Range(s, e, d)", "i64[<=4]");
  range.run_ok({{10}, {4}, {-3}});
  EXPECT_THAT(range.result<std::int64_t>(), ElementsAre(10, 7));
  range.run_ok({{kLeast}, {kMost}, {kMost}});  // the distance is 2^64 - 1
  EXPECT_THAT(range.result<std::int64_t>(), ElementsAre(kLeast, -1, kMost - 1));
  EXPECT_EQ(range.run({{0}, {5}, {1}}).code, RunCode::size_exceeds_plan);
  EXPECT_EQ(range.run({{0}, {5}, {0}}).code, RunCode::bad_extents);
}

TEST(ConstantOfShape, FillsAnyType) {
  OneNode fill = one_node("shape : i64[2]", "ConstantOfShape(shape) {value = -1}", "i8[2,1]");
  fill.run_ok({{2, 1}});
  EXPECT_THAT(fill.result<std::int8_t>(), ElementsAre(-1, -1));
  const OneNode unknown = one_node("shape : i64[2]", "ConstantOfShape(shape) {value = opaque \"tensor\"}", "i8[2,1]");
  EXPECT_EQ(unknown.missing(), "the number of attribute 'value' is not known");
}

TEST(Shape, ClampsItsRangeOfAxes) {
  OneNode shape = one_node("x : f32[2,3,4]", "Shape(x) {start = -2, end = 10}", "i64[2]");
  shape.run_ok({testing::floats(std::vector<float>(24))});
  EXPECT_THAT(shape.result<std::int64_t>(), ElementsAre(3, 4));
}

TEST(Dropout, IsRefusedIfItMayTrain) {
  const OneNode dropout = one_node("x : f32[2], r : f32[], t : bool[]", "Dropout(x, r, t)", "f32[2]");
  EXPECT_EQ(dropout.missing(), "training_mode is not a constant that is false, and kernels do not train");
}

// A graph in training mode, whose ratio is a constant.
const char* const kTraining = R"(graph "g" {
  input x : f32[2]
  constant r : f32[]
  constant t : bool[] = [1]
  y = Dropout(x, r, t) : f32[2]
  output y
})";

// Before opset 12, the mask had the type of the data.
TEST(Dropout, WithAMaskOfNumbersIsRefused) {
  const OneNode dropout = one_node("x : f32[2]", "Dropout(x)", "f32[2], f32[2]");
  EXPECT_EQ(dropout.missing(), "the mask is not bool, as of opset 12");
}

TEST(Dropout, OfRatio0DropsNothingInTraining) {
  const Graph graph = testing::graph_of(kTraining);
  testing::KernelRun run(graph);
  const std::vector<testing::TensorData> reads = {testing::tensor_data<float>(DType::f32, {2}, {3, 4}),
                                                  testing::tensor_data<float>(DType::f32, {}, {0}),
                                                  testing::tensor_data<std::uint8_t>(DType::boolean, {}, {1})};
  EXPECT_EQ(run.run(reads), RunStatus());
  EXPECT_THAT(testing::values_of<float>(run.writes[0]), ElementsAre(3, 4));
}

TEST(Dropout, OfAnotherRatioIsRefusedInTraining) {
  const Graph graph = testing::graph_of(kTraining);
  const float ratio = 0.5F;
  const auto prepared = prepare({.graph = graph, .node = NodeId(0), .kernel = "plain", .constant = [&](TensorId) {
                                   return std::as_bytes(std::span(&ratio, 1));
                                 }});
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().code, ErrorCode::unsupported);
  EXPECT_THAT(prepared.error().message, ::testing::HasSubstr("training mode with a ratio above 0"));
}

}  // namespace
}  // namespace lowtide
