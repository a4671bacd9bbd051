// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/graph_program/axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lowtide/base/listed.h"
#include "lowtide/c_source/graph_program/graph_program.h"
#include "lowtide/graph/operator_traits.h"

namespace lowtide::graph_program_internal {
namespace {

using testing::ElementsAre;

TEST(Merged, MakesOneAxisWhereAllTensorsAllowIt) {
  // [1, 8, 4, 4] and one number per channel.
  const Loops loops = merged({{1, 8, 4, 4}, {{128, 16, 4, 1}, {0, 1, 0, 0}}});
  EXPECT_THAT(loops.counts, ElementsAre(8, 16));
  EXPECT_THAT(loops.steps[0], ElementsAre(16, 1));
  EXPECT_THAT(loops.steps[1], ElementsAre(1, 0));
}

TEST(Merged, KeepsAxesOfATranspose) {
  EXPECT_THAT(merged({{2, 3}, {{1, 2}, {3, 1}}}).counts, ElementsAre(2, 3));
  EXPECT_THAT(merged({{1, 1}, {{1, 1}}}).counts, ElementsAre());
}

TEST(WithAxes, AddsAxesOfOneElementInFront) {
  const std::optional<Loops> loops = with_axes({{3}, {{1}}}, 2);
  ASSERT_TRUE(loops.has_value());
  EXPECT_THAT(loops->counts, ElementsAre(1, 3));
  EXPECT_THAT(loops->steps[0], ElementsAre(0, 1));
  EXPECT_FALSE(with_axes({{2, 3}, {{3, 1}}}, 1).has_value());
}

TEST(BroadcastSteps, RepeatExtentsOfOne) {
  EXPECT_THAT(broadcast_steps({3, 1}, {2, 3, 4}), ElementsAre(0, 1, 0));
  EXPECT_THAT(broadcast_steps({}, {2, 3}), ElementsAre(0, 0));
}

TEST(MoveCall, CopiesRowsOfBytes) {
  // Rows of 3 elements with 8 bytes, out of rows of 5: pieces of 24 bytes, 40 apart.
  const Result<NodeCall> call =
      move_call(CType::int64, {.loops = {{2, 3}, {{5, 1}, {3, 1}}}, .input_start = 2}, InputAt{0}, OutputAt{0});
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->kernel, "move");
  const auto list = [&](std::size_t at) { return std::get<std::vector<std::int32_t>>(call->parameters[at].value); };
  EXPECT_EQ(std::get<std::int32_t>(call->parameters[0].value), 24);
  EXPECT_THAT(list(1), ElementsAre(1, 1, 1, 1, 2));
  EXPECT_THAT(list(2), ElementsAre(0, 0, 0, 0, 40));
  EXPECT_THAT(list(3), ElementsAre(0, 0, 0, 0, 24));
  EXPECT_EQ(std::get<std::int32_t>(call->parameters[4].value), 16);
}

TEST(Operators, AreThoseOfOnnx) {
  for (std::string_view type : operators_with_c_kernels()) EXPECT_TRUE(operator_traits("", type).is_known) << type;
  EXPECT_GT(operators_with_c_kernels().size(), 100U);
}

TEST(Operators, AreListedInTheDocument) {
  const std::filesystem::path root = std::filesystem::path(LOWTIDE_TEST_FILES).parent_path().parent_path();
  std::ifstream file(root / "docs/microcontrollers.md");
  std::string document{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::ranges::replace(document, '\n', ' ');
  EXPECT_THAT(document, testing::HasSubstr(listed(operators_with_c_kernels()) + "."));
}

}  // namespace
}  // namespace lowtide::graph_program_internal
