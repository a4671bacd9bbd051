// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "tests/kernels/one_node.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using testing::Elements;
using ::testing::ElementsAre;
using testing::floats;
using testing::kNan;
using testing::one_node;
using testing::OneNode;

TEST(TopK, TakesTheFirstOfEqualElements) {
  OneNode node = one_node("x : f32[4], k : i64[1]", "TopK(x, k)", "f32[2], i64[2]");
  node.run_ok({floats({1, 3, 3, 3}), {2}});
  EXPECT_THAT(node.result<std::int64_t>(1), ElementsAre(1, 2));
}

TEST(TopK, CountsNanAsTheLargest) {
  OneNode most = one_node("x : f32[3], k : i64[1]", "TopK(x, k)", "f32[1], i64[1]");
  most.run_ok({floats({5, kNan, 7}), {1}});
  EXPECT_THAT(most.result<std::int64_t>(1), ElementsAre(1));
  OneNode least = one_node("x : f32[3], k : i64[1]", "TopK(x, k) {largest = 0}", "f32[2], i64[2]");
  least.run_ok({floats({kNan, 7, 5}), {2}});
  EXPECT_THAT(least.result<float>(0), ElementsAre(5, 7));
}

TEST(TopK, RefusesMoreElementsThanThereAre) {
  OneNode node = one_node("x : f32[2], k : i64[1]", "TopK(x, k)", "f32[2], i64[2]");
  EXPECT_EQ(node.run({floats({1, 2}), {3}}), (RunStatus{RunCode::index_out_of_range, 1}));
  EXPECT_EQ(node.run({floats({1, 2}), {-1}}), (RunStatus{RunCode::index_out_of_range, 1}));
}

TEST(TopK, OrdersLinesOfAnInnerAxis) {
  OneNode node = one_node("x : i32[2,2], k : i64[1]", "TopK(x, k) {axis = 0}", "i32[1,2], i64[1,2]");
  node.run_ok({{1, 8, 4, 2}, {1}});
  EXPECT_THAT(node.result<std::int32_t>(0), ElementsAre(4, 8));
  EXPECT_THAT(node.result<std::int64_t>(1), ElementsAre(1, 0));
}

TEST(Unique, KeepsTheOrderOfFirstSlices) {
  OneNode node = one_node("x : i32[4,1]", "Unique(x) {axis = 0, sorted = 0}", "i32[<=4,1], i64[<=4], i64[4], i64[<=4]");
  node.run_ok({{7, 5, 7, 5}});
  EXPECT_THAT(node.extents(0), ElementsAre(2, 1));
  EXPECT_THAT(node.result<std::int32_t>(0), ElementsAre(7, 5));
  EXPECT_THAT(node.result<std::int64_t>(1), ElementsAre(0, 1));
  EXPECT_THAT(node.result<std::int64_t>(2), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(node.result<std::int64_t>(3), ElementsAre(2, 2));
}

const char* const kBoxes = "b : f32[1,3,4], s : f32[1,1,3], n : i64[1], t : f32[1]";

// Corners in any order: boxes 0 and 1 are the unit square, box 2 lies beside them.
const Elements kThreeBoxes = floats({0, 0, 1, 1, 1, 1, 0, 0, 0, 2, 1, 3});

TEST(NonMaxSuppression, SuppressesABoxThatOverlaps) {
  OneNode node = one_node(kBoxes, "NonMaxSuppression(b, s, n, t)", "i64[<=3,3]");
  node.run_ok({kThreeBoxes, floats({0.5F, 0.75F, 0.25F}), {3}, floats({0.5F})});
  EXPECT_THAT(node.result<std::int64_t>(), ElementsAre(0, 0, 1, 0, 0, 2));
}

// The common part of boxes 0 and 1 is all of their union: 1 > 1 is false.
TEST(NonMaxSuppression, KeepsABoxAtTheThreshold) {
  OneNode node = one_node(kBoxes, "NonMaxSuppression(b, s, n, t)", "i64[<=3,3]");
  node.run_ok({kThreeBoxes, floats({0.5F, 0.5F, 0.25F}), {2}, floats({1})});
  EXPECT_THAT(node.result<std::int64_t>(), ElementsAre(0, 0, 0, 0, 0, 1));
}

TEST(NonMaxSuppression, SelectsNothingWithoutALimit) {
  OneNode node = one_node("b : f32[1,3,4], s : f32[1,1,3]", "NonMaxSuppression(b, s)", "i64[<=3,3]");
  node.run_ok({kThreeBoxes, floats({1, 1, 1})});
  EXPECT_THAT(node.extents(), ElementsAre(0, 3));
}

TEST(NonMaxSuppression, StopsAtThePlannedSize) {
  OneNode node = one_node(kBoxes, "NonMaxSuppression(b, s, n, t)", "i64[<=1,3]");
  EXPECT_EQ(node.run({kThreeBoxes, floats({1, 1, 1}), {3}, floats({0})}).code, RunCode::size_exceeds_plan);
}

struct TestBox {
  float top, left, bottom, right;
};

// Selects boxes as the standard defines it, one pair of boxes after another.
std::vector<std::int64_t> selected_boxes(const std::vector<TestBox>& boxes, const std::vector<float>& scores,
                                         std::int64_t most, float threshold) {
  std::vector<std::int64_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](std::int64_t at) { return scores[static_cast<std::size_t>(at)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return score(a) > score(b); });
  std::vector<std::int64_t> selected;
  for (std::int64_t at : order) {
    if (static_cast<std::int64_t>(selected.size()) == most) break;
    const TestBox& a = boxes[static_cast<std::size_t>(at)];
    const bool is_suppressed = std::ranges::any_of(selected, [&](std::int64_t other) {
      const TestBox& b = boxes[static_cast<std::size_t>(other)];
      const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
      const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
      if (!(height > 0) || !(width > 0)) return false;
      const float common = width * height;
      const auto area = [](const TestBox& box) { return (box.right - box.left) * (box.bottom - box.top); };
      return common / (area(a) + area(b) - common) > threshold;
    });
    if (!is_suppressed) selected.push_back(at);
  }
  return selected;
}

// 2 images with 3 classes and 300 boxes; scores are equal here and there. One thread and two give the same rows.
TEST(NonMaxSuppression, EqualsTheDefinitionInRandomBoxes) {
  Random random(7);
  const auto number = [&](int most) { return static_cast<float>(random.below(static_cast<std::uint64_t>(most))); };
  std::vector<std::vector<TestBox>> boxes(2);
  std::vector<float> all_boxes;
  for (std::vector<TestBox>& of_image : boxes) {
    for (int at = 0; at < 300; ++at) {
      const TestBox box{number(40), number(40), 0, 0};
      of_image.push_back({box.top, box.left, box.top + number(20), box.left + number(20)});
      const TestBox& last = of_image.back();
      all_boxes.insert(all_boxes.end(), {last.top, last.left, last.bottom, last.right});
    }
  }
  std::vector<float> scores(2 * 3 * 300);
  for (float& score : scores) score = number(200) - 100;
  std::vector<std::int64_t> expected;
  for (std::int64_t group = 0; group < 6; ++group) {
    const std::vector<float> of_group(scores.begin() + group * 300, scores.begin() + (group + 1) * 300);
    for (std::int64_t at : selected_boxes(boxes[static_cast<std::size_t>(group / 3)], of_group, 70, 0.25F)) {
      expected.insert(expected.end(), {group / 3, group % 3, at});
    }
  }
  const std::string operands = "b : f32[2,300,4], s : f32[2,3,300], n : i64[1], t : f32[1]";
  // Space for all classes, and only for what is selected: then the classes come one after another.
  const std::int64_t rows = static_cast<std::int64_t>(expected.size()) / 3;
  for (const std::int64_t space : {std::int64_t{6 * 70}, rows}) {
    OneNode node = one_node(operands, "NonMaxSuppression(b, s, n, t)", "i64[<=" + std::to_string(space) + ",3]");
    for (const int threads : testing::kThreadCounts) {
      testing::ReversedTeam team(threads);
      node.team = &team;
      node.run_ok({floats(all_boxes), floats(scores), {70}, floats({0.25F})});
      EXPECT_EQ(node.result<std::int64_t>(), expected);
    }
  }
  OneNode small = one_node(operands, "NonMaxSuppression(b, s, n, t)", "i64[<=" + std::to_string(rows - 1) + ",3]");
  EXPECT_EQ(small.run({floats(all_boxes), floats(scores), {70}, floats({0.25F})}).code, RunCode::size_exceeds_plan);
}

// Detectors move the boxes of each class apart and call for all at once. Boxes of 30 places are then in cells of their
// own. One box that is as wide as all of them, or that has no end, makes one cell of all.
TEST(NonMaxSuppression, EqualsTheDefinitionInBoxesFarApart) {
  Random random(11);
  const auto number = [&](int most) { return static_cast<float>(random.below(static_cast<std::uint64_t>(most))); };
  for (const bool is_down : {false, true}) {
    for (const float extent : {10.0F, 40'000.0F, std::numeric_limits<float>::infinity()}) {
      std::vector<TestBox> boxes;
      for (int at = 0; at < 600; ++at) {
        const float place = static_cast<float>(at % 30) * 1000;
        const float top = number(40) + (is_down ? place : 0);
        const float left = number(40) + (is_down ? 0 : place);
        boxes.push_back({top, left, top + number(20), left + number(20)});
      }
      boxes[300] = {-5, -7, -5 + extent, -7 + extent};
      std::vector<float> numbers;
      for (const TestBox& box : boxes) numbers.insert(numbers.end(), {box.top, box.left, box.bottom, box.right});
      std::vector<float> scores(600);
      for (float& score : scores) score = number(200);
      std::vector<std::int64_t> expected;
      for (std::int64_t at : selected_boxes(boxes, scores, 500, 0.25F)) expected.insert(expected.end(), {0, 0, at});
      OneNode node = one_node("b : f32[1,600,4], s : f32[1,1,600], n : i64[1], t : f32[1]",
                              "NonMaxSuppression(b, s, n, t)", "i64[<=500,3]");
      node.run_ok({floats(numbers), floats(scores), {500}, floats({0.25F})});
      EXPECT_EQ(node.result<std::int64_t>(), expected);
    }
  }
}

}  // namespace
}  // namespace lowtide
