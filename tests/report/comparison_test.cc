// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string shown(const Comparison& comparison) {
  const ModelFacts model{.path = "m.onnx", .format = "onnx", .sha256 = "0123456789abcdef", .nodes = 3, .tensors = 4};
  return comparison_summary(model, comparison).render(false);
}

TEST(Comparison, NamesThePlannersThatNeedLess) {
  const std::string text = shown({.arena = Bytes(100),
                                  .bound = Bytes(80),
                                  .lines = {{.name = "less", .run_order = "sequence", .bytes = Bytes(90)},
                                            {.name = "more", .run_order = "waves", .bytes = Bytes(250)}}});
  EXPECT_THAT(text, HasSubstr("bound 80 B"));
  EXPECT_THAT(text, HasSubstr("0.90x"));
  EXPECT_THAT(text, HasSubstr("2.50x"));
  EXPECT_THAT(text, HasSubstr("These need less than Lowtide: less\n"));
  EXPECT_THAT(text, Not(HasSubstr("No other planner")));
}

TEST(Comparison, ShowsWhyThereIsNoResult) {
  const std::string text =
      shown({.arena = Bytes(100), .bound = Bytes(100), .lines = {{.name = "large", .refusal = "too many nodes"}}});
  EXPECT_THAT(text, HasSubstr("too many nodes"));
  EXPECT_THAT(text, HasSubstr("proven optimal"));
  EXPECT_THAT(text, HasSubstr("No other planner needs less than Lowtide."));
}

TEST(Comparison, ShowsNoFactorForAModelWithoutBytes) {
  const std::string text = shown({.lines = {{.name = "some", .bytes = Bytes(64)}}});
  EXPECT_THAT(text, HasSubstr("some"));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace lowtide
