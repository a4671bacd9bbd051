// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/kernels/one_node.h"

namespace lowtide {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using testing::floats;
using testing::one_node;
using testing::OneNode;

// One query of width 1, and two keys. The scores are 0 and log(3), so the weights are 1/4 and 3/4.
TEST(Attention, WeighsTheValues) {
  OneNode node = one_node("q : f32[1,1,1,1], k : f32[1,1,2,1], v : f32[1,1,2,1]", "Attention(q, k, v)", "f32[1,1,1,1]");
  node.run_ok({floats({1}), floats({0, std::log(3.0F)}), floats({4, 8})});
  EXPECT_THAT(node.result<float>(), ElementsAre(FloatEq(7)));  // 4 / 4 + 8 * 3 / 4
}

// Two queries and two keys with equal scores: the first query sees the first key only.
TEST(Attention, ACausalQuerySeesNoLaterKey) {
  OneNode node = one_node("q : f32[1,1,2,1], k : f32[1,1,2,1], v : f32[1,1,2,1]", "Attention(q, k, v) {is_causal = 1}",
                          "f32[1,1,2,1]");
  node.run_ok({floats({1, 1}), floats({0, 0}), floats({2, 6})});
  EXPECT_THAT(node.result<float>(), ElementsAre(2, 4));
}

TEST(Attention, AQueryWithoutKeysGivesZeros) {
  OneNode node = one_node("q : f32[1,1,1,1], k : f32[1,1,2,1], v : f32[1,1,2,2], m : bool[1,2]",
                          "Attention(q, k, v, m)", "f32[1,1,1,2]");
  node.run_ok({floats({1}), floats({5, 6}), floats({1, 2, 3, 4}), {0, 0}});
  EXPECT_THAT(node.result<float>(), Each(0.0F));
}

// Heads 0 and 1 of the queries share the only head of the keys.
TEST(Attention, HeadsShareKeysInGroups) {
  OneNode node = one_node("q : f32[1,1,2], k : f32[1,1,1], v : f32[1,1,1]",
                          "Attention(q, k, v) {q_num_heads = 2, kv_num_heads = 1}", "f32[1,1,2]");
  node.run_ok({floats({1, 2}), floats({3}), floats({5})});
  EXPECT_THAT(node.result<float>(), ElementsAre(5, 5));
}

TEST(Attention, RefusesExtentsThatDisagree) {
  OneNode node = one_node("q : f32[1,3,1,1], k : f32[1,2,1,1], v : f32[1,2,1,1]", "Attention(q, k, v)", "f32[1,3,1,1]");
  EXPECT_EQ(node.missing(), "input 'k' is f32[1,2,1,1], and has to have heads that those of the queries share");
}

// A quarter turn: cosine 0, sine 1. Pairs are (x0, x2) and (x1, x3).
TEST(RotaryEmbedding, TurnsPairs) {
  OneNode node = one_node("x : f32[1,1,1,4], c : f32[2,2], s : f32[2,2], p : i64[1,1]", "RotaryEmbedding(x, c, s, p)",
                          "f32[1,1,1,4]");
  node.run_ok({floats({1, 2, 3, 4}), floats({1, 1, 0, 0}), floats({0, 0, 1, 1}), {1}});
  EXPECT_THAT(node.result<float>(), ElementsAre(-3, -4, 1, 2));
  const std::vector<testing::Elements> beyond{floats({1, 2, 3, 4}), floats({1, 1, 0, 0}), floats({0, 0, 1, 1}), {2}};
  EXPECT_EQ(node.run(beyond).code, RunCode::index_out_of_range);
}

// Numbers that no integer can hold are outside of the image, like all others beyond 1.
TEST(GridSample, TakesAnyNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const testing::Elements grid = floats({kInfinity, -1e30F, std::nanf(""), 0, -1e30F, kInfinity, 0, 0});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* outside : {"zeros", "border", "reflection"}) {
      OneNode node =
          one_node("x : f32[1,1,2,2], g : f32[1,1,4,2]",
                   std::string("GridSample(x, g) {mode = \"") + mode + "\", padding_mode = \"" + outside + "\"}",
                   "f32[1,1,1,4]");
      node.run_ok({floats({1, 1, 1, 1}), grid});
      for (const float value : node.result<float>()) EXPECT_TRUE(std::isfinite(value)) << mode << " " << outside;
    }
  }
}

TEST(RoiAlign, RefusesAnImageThatIsNotThere) {
  OneNode node = one_node("x : f32[1,1,2,2], r : f32[1,4], b : i64[1]", "RoiAlign(x, r, b)", "f32[1,1,1,1]");
  node.run_ok({floats({1, 2, 3, 4}), floats({0, 0, 2, 2}), {0}});
  EXPECT_EQ(node.run({floats({1, 2, 3, 4}), floats({0, 0, 2, 2}), {1}}).code, RunCode::index_out_of_range);
}

// x = 1, 2, 3: the sum is 6, and the inverse gives x again.
TEST(DFT, AndItsInverseGiveTheSignal) {
  OneNode forward = one_node("x : f32[1,3,1]", "DFT(x) {onesided = 1}", "f32[1,2,2]");
  forward.run_ok({floats({1, 2, 3})});
  const std::vector<float> half = forward.result<float>();
  EXPECT_THAT(half, ElementsAre(FloatEq(6), FloatEq(0), FloatEq(-1.5F), FloatEq(std::sqrt(3.0F) / 2)));
  OneNode back = one_node("x : f32[1,2,2], n : i64[]", "DFT(x, n) {inverse = 1, onesided = 1}", "f32[1,3,1]");
  back.run_ok({floats(half), {3}});
  EXPECT_THAT(back.result<float>(), ElementsAre(FloatEq(1), FloatEq(2), FloatEq(3)));
}

// A length and a window may be any number of 64 bits.
TEST(Attention, LengthsOutsideOfTheKeysMeanNoneAndAll) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  OneNode node = one_node("q : f32[2,1,1,1], k : f32[2,1,2,1], v : f32[2,1,2,1], n : i64[2]",
                          "Attention(q, k, v, _, _, _, n)", "f32[2,1,1,1]");
  node.run_ok({{0, 0}, {1, 1, 1, 1}, {2, 4, 2, 4}, {}, {}, {}, {kLeast, kMost}});
  EXPECT_THAT(node.result<float>(), ElementsAre(0, 3));  // nothing; (2 + 4) / 2
}

TEST(Attention, AWindowOfAnyWidthShowsAllKeys) {
  OneNode node = one_node("q : f32[1,1,2,1], k : f32[1,1,2,1], v : f32[1,1,2,1]",
                          "Attention(q, k, v) {left_window_size = 9223372036854775807, "
                          "right_window_size = 9223372036854775807}",
                          "f32[1,1,2,1]");
  node.run_ok({{0, 0}, {1, 1}, {2, 4}});
  EXPECT_THAT(node.result<float>(), ElementsAre(3, 3));
}

}  // namespace
}  // namespace lowtide
