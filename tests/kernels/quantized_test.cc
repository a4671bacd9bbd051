// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <limits>

#include "tests/kernels/one_node.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using testing::one_node;
using testing::OneNode;

TEST(ConvInteger, HasPaddingOfTheZeroPoint) {
  OneNode node =
      one_node("x : u8[1,1,1], w : i8[1,1,3], z : u8[]", "ConvInteger(x, w, z) {pads = [1, 1]}", "i32[1,1,1]");
  node.run_ok({{7}, {100, -2, 100}, {5}});
  EXPECT_THAT(node.result<std::int32_t>(), ElementsAre((7 - 5) * -2));
}

TEST(QuantizeLinear, RoundsToEvenAndSaturates) {
  OneNode node = one_node("x : f32[5], s : f32[], z : i8[]", "QuantizeLinear(x, s, z)", "i8[5]");
  const float infinity = std::numeric_limits<float>::infinity();
  node.run_ok({floats({1, 3, -3, infinity, -infinity}), floats({2}), {1}});
  EXPECT_THAT(node.result<std::int8_t>(), ElementsAre(0 + 1, 2 + 1, -2 + 1, 127, -128));
}

TEST(MatMulInteger, HasAZeroPointPerColumn) {
  OneNode node = one_node("a : u8[1,2], b : u8[2,2], p : u8[], q : u8[2]", "MatMulInteger(a, b, p, q)", "i32[1,2]");
  node.run_ok({{3, 5}, {10, 20, 30, 40}, {1}, {10, 0}});
  EXPECT_THAT(node.result<std::int32_t>(), ElementsAre(2 * 0 + 4 * 20, 2 * 20 + 4 * 40));
}

}  // namespace
}  // namespace lowtide
