// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "lowtide/base/try.h"

namespace lowtide {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return Error{ErrorCode::invalid, std::to_string(number) + " is odd", "here"};
  return number / 2;
}

Result<void> check_even(int number) {
  LOWTIDE_RETURN_IF_ERROR(half_of(number));
  return {};
}

Result<std::string> twice_checked(int number) {
  LOWTIDE_RETURN_IF_ERROR(check_even(number));
  return std::string("even");
}

// Two in one function, with commas in the second expression, and one in a lambda.
Result<int> sum_of_halves(int a, int b) {
  LOWTIDE_TRY(const int first, half_of(a));
  LOWTIDE_TRY(int sum, [&](int add, int to) -> Result<int> {
    LOWTIDE_TRY(const int half, half_of(add));
    return to + half;
  }(b, first));
  return sum;
}

Result<std::unique_ptr<int>> move_through(Result<std::unique_ptr<int>> given) {
  LOWTIDE_TRY(std::unique_ptr<int> owned, std::move(given));
  ++*owned;
  return owned;
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = half_of(8);
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(*good, 4);
  const Result<int> bad = half_of(7);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "7 is odd");
}

TEST(Result, ReadingTheWrongSideThrows) {
  EXPECT_THROW((void)half_of(7).value(), InvariantViolation);
  EXPECT_THROW((void)half_of(8).error(), InvariantViolation);
  EXPECT_THROW((void)check_even(8).error(), InvariantViolation);
}

TEST(Result, ErrorsPassThroughTheCallers) {
  EXPECT_EQ(*twice_checked(2), "even");
  EXPECT_EQ(twice_checked(3).error().describe(), "here: 3 is odd");
  EXPECT_EQ((Error{ErrorCode::io, "gone", ""}.describe()), "gone");
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Try, DefinesTheValueOrReturnsTheFirstError) {
  EXPECT_EQ(*sum_of_halves(8, 6), 7);
  EXPECT_EQ(sum_of_halves(7, 5).error().message, "7 is odd");
  EXPECT_EQ(sum_of_halves(8, 5).error().message, "5 is odd");
}

TEST(Try, MovesTheValue) {
  EXPECT_EQ(**move_through(std::make_unique<int>(5)), 6);
  EXPECT_EQ(move_through(Error{ErrorCode::io, "gone", ""}).error().code, ErrorCode::io);
}

TEST(ErrorCodes, HaveDistinctNames) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::no_memory); ++code)
    names.insert(to_string(static_cast<ErrorCode>(code)));
  EXPECT_EQ(names.size(), 8U);
}

}  // namespace
}  // namespace lowtide
