// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <limits>

#include "tests/kernels/one_node.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using testing::halves;
using testing::one_node;
using testing::OneNode;

TEST(Gather, CountsNegativeIndicesFromTheEnd) {
  OneNode gather = one_node("x : i32[2,3], i : i64[2]", "Gather(x, i) {axis = 1}", "i32[2,2]");
  gather.run_ok({{0, 1, 2, 3, 4, 5}, {-1, 0}});
  EXPECT_THAT(gather.result<std::int32_t>(), ElementsAre(2, 0, 5, 3));
}

TEST(IndexKernels, ReportIndicesOutOfRange) {
  const std::vector<std::pair<std::string, std::vector<testing::Elements>>> cases{
      {"Gather(x, i)", {{1, 2}, {2}}},
      {"GatherElements(x, i)", {{1, 2}, {-3}}},
      {"ScatterElements(x, i, u)", {{1, 2}, {2}, {5}}},
  };
  for (const auto& [call, reads] : cases) {
    const bool has_updates = reads.size() == 3;
    OneNode node = one_node(std::string("x : i32[2], i : i64[1]") + (has_updates ? ", u : i32[1]" : ""), call,
                            has_updates ? "i32[2]" : "i32[1]");
    EXPECT_EQ(node.run(reads).code, RunCode::index_out_of_range) << call;
  }
  OneNode tuples = one_node("x : i32[2,2], i : i64[1,2]", "GatherND(x, i)", "i32[1]");
  EXPECT_EQ(tuples.run({{1, 2, 3, 4}, {1, 2}}).code, RunCode::index_out_of_range);
}

TEST(GatherElements, ReadsAlongItsAxis) {
  OneNode gather = one_node("x : i32[2,2], i : i32[2,2]", "GatherElements(x, i) {axis = 1}", "i32[2,2]");
  gather.run_ok({{1, 2, 3, 4}, {0, 0, 1, 0}});
  EXPECT_THAT(gather.result<std::int32_t>(), ElementsAre(1, 1, 4, 3));
}

TEST(GatherND, TakesSlicesWithinEachBatch) {
  OneNode gather = one_node("x : i32[2,2,2], i : i64[2,1]", "GatherND(x, i) {batch_dims = 1}", "i32[2,2]");
  gather.run_ok({{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0}});
  EXPECT_THAT(gather.result<std::int32_t>(), ElementsAre(2, 3, 4, 5));
}

TEST(Scatter, AppliesDuplicateIndicesInOrder) {
  OneNode elements = one_node("x : i32[3], i : i64[3], u : i32[3]", "ScatterElements(x, i, u)", "i32[3]");
  elements.run_ok({{1, 2, 3}, {1, -1, 1}, {7, 8, 9}});
  EXPECT_THAT(elements.result<std::int32_t>(), ElementsAre(1, 9, 8));
  OneNode slices = one_node("x : i32[2,2], i : i64[2,1], u : i32[2,2]", "ScatterND(x, i, u)", "i32[2,2]");
  slices.run_ok({{1, 2, 3, 4}, {1, 1}, {5, 6, 7, 8}});
  EXPECT_THAT(slices.result<std::int32_t>(), ElementsAre(1, 2, 7, 8));
}

TEST(Scatter, RefusesAnUnknownReduction) {
  const OneNode node =
      one_node("x : i32[3], i : i64[3], u : i32[3]", "ScatterElements(x, i, u) {reduction = \"mean\"}", "i32[3]");
  EXPECT_EQ(node.missing(), "no kernel has reduction 'mean' of this type");
}

TEST(ArgMax, TakesTheFirstOrTheLastOfEqualValues) {
  for (const auto& [last, place] : {std::pair("0", 1), std::pair("1", 2)}) {
    OneNode node = one_node(
        "x : i32[1,4]", std::string("ArgMax(x) {axis = 1, keepdims = 0, select_last_index = ") + last + "}", "i64[1]");
    node.run_ok({{1, 5, 5, 2}});
    EXPECT_THAT(node.result<std::int64_t>(), ElementsAre(place));
  }
}

TEST(ArgMin, ChoosesTheFirstNan) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  OneNode node = one_node("x : f32[4]", "ArgMin(x)", "i64[1]");
  node.run_ok({floats({1, kNan, 0, kNan})});
  EXPECT_THAT(node.result<std::int64_t>(), ElementsAre(1));
}

TEST(NonZero, ListsPositionsInRowMajorOrder) {
  OneNode node = one_node("x : bool[2,2]", "NonZero(x)", "i64[2,<=4]");
  node.run_ok({{1, 0, 1, 1}});
  EXPECT_THAT(node.extents(), ElementsAre(2, 3));
  EXPECT_THAT(node.result<std::int64_t>(), ElementsAre(0, 1, 1, 0, 0, 1));
}

TEST(Compress, KeepsSlicesOrElements) {
  OneNode slices = one_node("x : i32[2,2], c : bool[2]", "Compress(x, c) {axis = 1}", "i32[2,<=2]");
  slices.run_ok({{1, 2, 3, 4}, {0, 1}});
  EXPECT_THAT(slices.result<std::int32_t>(), ElementsAre(2, 4));
  OneNode flat = one_node("x : i32[2,2], c : bool[3]", "Compress(x, c)", "i32[<=4]");
  flat.run_ok({{1, 2, 3, 4}, {1, 0, 1}});
  EXPECT_THAT(flat.result<std::int32_t>(), ElementsAre(1, 3));
}

TEST(ScatterElements, AddsUpdatesOfOnePlaceInOrder) {
  OneNode node =
      one_node("x : f16[1], i : i64[2], u : f16[2]", "ScatterElements(x, i, u) {reduction = \"add\"}", "f16[1]");
  node.run_ok({halves({0x3C00}), {0, -1}, halves({0x4000, 0x4200})});  // 1 + 2 + 3
  EXPECT_THAT(node.result<std::uint16_t>(), ElementsAre(0x4600));
}

// One half is 0x3800, one is 0x3c00.
TEST(ArgMax, ComparesHalves) {
  OneNode node = one_node("x : f16[3]", "ArgMax(x)", "i64[1]");
  node.run_ok({testing::halves({0x3800, 0x3c00, 0x3800})});
  EXPECT_THAT(node.result<std::int64_t>(), ElementsAre(1));
}

TEST(NonZero, ReadsHalves) {
  OneNode node = one_node("x : f16[3]", "NonZero(x)", "i64[1,<=3]");
  node.run_ok({testing::halves({0x3800, 0, 0x3c00})});
  EXPECT_THAT(node.result<std::int64_t>(), ElementsAre(0, 2));
}

TEST(OneHot, CopiesValuesOfAnyType) {
  OneNode half = one_node("i : i64[2], d : i64[], v : f16[2]", "OneHot(i, d, v)", "f16[2,2]");
  half.run_ok({{1, 0}, {2}, testing::halves({0x3800, 0x3c00})});
  EXPECT_THAT(half.result<std::uint16_t>(), ElementsAre(0x3800, 0x3c00, 0x3c00, 0x3800));
  OneNode wide = one_node("i : i64[2], d : i64[], v : f64[2]", "OneHot(i, d, v)", "f64[2,2]");
  wide.run_ok({{1, 0}, {2}, testing::raw_elements(std::vector<double>{0.1, 0.2})});
  EXPECT_THAT(wide.result<double>(), ElementsAre(0.1, 0.2, 0.2, 0.1));
}

TEST(OneHot, CountsNegativeIndicesFromTheEnd) {
  OneNode node = one_node("i : i64[3], d : i64[], v : i8[2]", "OneHot(i, d, v)", "i8[3,2]");
  node.run_ok({{-1, 0, 2}, {2}, {0, 9}});
  EXPECT_THAT(node.result<std::int8_t>(), ElementsAre(0, 9, 9, 0, 0, 0));
}

TEST(TensorScatter, RefusesPlacesBeyondTheCache) {
  OneNode node = one_node("c : i32[1,2,1], u : i32[1,2,1], i : i64[1]", "TensorScatter(c, u, i)", "i32[1,2,1]");
  EXPECT_EQ(node.run({{1, 2}, {3, 4}, {1}}), (RunStatus{RunCode::index_out_of_range, 2}));
  OneNode circular = one_node("c : i32[1,2,1], u : i32[1,2,1], i : i64[1]",
                              "TensorScatter(c, u, i) {mode = \"circular\"}", "i32[1,2,1]");
  circular.run_ok({{1, 2}, {3, 4}, {1}});
  EXPECT_THAT(circular.result<std::int32_t>(), ElementsAre(4, 3));
}

}  // namespace
}  // namespace lowtide
