// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/tflite/tflite_program/densify.h"
#include "tests/tflite/tflite_program/one_operator.h"

namespace lowtide::tflite_program_internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using tflite_program_tests::Calls;
using tflite_program_tests::integer;
using tflite_program_tests::integers;
using tflite_program_tests::one_operator;
using tflite_program_tests::OneOperator;
using tflite_program_tests::set_integers;

TEST(Rearrangements, TileRepeatsPieces) {
  OneOperator one =
      one_operator({.type = "TILE"}, {tflite_program_tests::tensor({2}), tflite_program_tests::tensor({1})},
                   {tflite_program_tests::tensor({6})});
  set_integers(one, 1, {3});
  const Calls made = calls_of(one);
  ASSERT_TRUE(made.calls.ok()) << made.calls.error().describe();
  ASSERT_THAT(*made.calls, SizeIs(1));
  EXPECT_EQ(integer(made.calls->front(), "bytes"), 2);
  EXPECT_THAT(integers(made.calls->front(), "counts"), ElementsAre(1, 1, 1, 1, 3));
  EXPECT_THAT(integers(made.calls->front(), "input_steps"), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(integers(made.calls->front(), "output_steps"), ElementsAre(0, 0, 0, 0, 2));
  set_integers(one, 1, {4});
  EXPECT_THAT(calls_of(one).calls.error().message, HasSubstr("does not fit"));
}

TEST(Rearrangements, BlocksThatDoNotDivideAreRefused) {
  const OneOperator one =
      one_operator({.type = "SPACE_TO_DEPTH", .options = {{"block_size", std::int64_t{2}}}},
                   {tflite_program_tests::tensor({1, 3, 4, 1})}, {tflite_program_tests::tensor({1, 1, 2, 4})});
  EXPECT_THAT(calls_of(one).calls.error().message, HasSubstr("does not fit"));
}

// Rows of 4 places in blocks of 2: the second block of row 0, and the first one of row 1.
TfliteTensor sparse() {
  TfliteTensor tensor{.type = TfliteType::int8, .shape = {2, 4}, .is_sparse = true};
  tensor.sparsity = {
      .order = {0, 1, 2},
      .block_axes = {1},
      .levels = {{.extent = 2}, {.is_sparse = true, .segments = {0, 1, 2}, .indices = {1, 0}}, {.extent = 2}}};
  return tensor;
}

TEST(Densify, BlocksGetTheirPlaces) { EXPECT_EQ(densified(sparse(), "abcd", 1), std::string("\0\0abcd\0\0", 8)); }

TEST(Densify, ContradictionsAreRefused) {
  EXPECT_FALSE(densified(sparse(), "abc", 1));
  TfliteTensor outside = sparse();
  outside.sparsity.levels[1].indices = {2, 0};
  EXPECT_FALSE(densified(outside, "abcd", 1));
  TfliteTensor unordered = sparse();
  unordered.sparsity.order = {0, 1, 1};
  EXPECT_FALSE(densified(unordered, "abcd", 1));
  TfliteTensor uncut = sparse();
  uncut.sparsity.levels[2].extent = 3;
  EXPECT_FALSE(densified(uncut, "abcd", 1));
}

}  // namespace
}  // namespace lowtide::tflite_program_internal
