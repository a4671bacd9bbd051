// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/checked.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "lowtide/base/check.h"

namespace lowtide {
namespace {

constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

// __int128 holds every sum, difference and product of two 64-bit numbers.
__extension__ using Wide = __int128;
std::optional<std::int64_t> narrowed(Wide number) {
  if (number < kLeast || number > kHighest) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

TEST(Checked, AgreesWithWiderArithmeticAtTheEdges) {
  constexpr std::array<std::int64_t, 11> kEdges = {
      kLeast, kLeast + 1, -(std::int64_t{1} << 32), -2, -1, 0, 1, 2, std::int64_t{1} << 32, kHighest - 1, kHighest};
  for (std::int64_t a : kEdges) {
    for (std::int64_t b : kEdges) {
      EXPECT_EQ(checked_add(a, b), narrowed(Wide{a} + b)) << a << " + " << b;
      EXPECT_EQ(checked_subtract(a, b), narrowed(Wide{a} - b)) << a << " - " << b;
      EXPECT_EQ(checked_multiply(a, b), narrowed(Wide{a} * b)) << a << " * " << b;
    }
  }
}

TEST(Checked, OverflowOfBoundedNumbersThrows) {
  EXPECT_EQ(must_add(kHighest, kLeast), -1);
  EXPECT_EQ(must_subtract(5, 7), -2);
  EXPECT_EQ(must_multiply(-3, 7), -21);
  EXPECT_THROW((void)must_add(kHighest, 1), InvariantViolation);
  EXPECT_THROW((void)must_subtract(kLeast, 1), InvariantViolation);
  EXPECT_THROW((void)must_multiply(kLeast, -1), InvariantViolation);
}

TEST(Check, NamesTheInvariantAndThePlace) {
  EXPECT_NO_THROW(LOWTIDE_CHECK(true, "this holds"));
  try {
    LOWTIDE_CHECK(1 + 1 == 3, "one and one are three");
    FAIL() << "a broken invariant throws";
  } catch (const InvariantViolation& violation) {
    EXPECT_NE(std::string(violation.what()).find("one and one are three"), std::string::npos);
    EXPECT_NE(std::string(violation.what()).find("checked_test.cc:"), std::string::npos);
  }
}

}  // namespace
}  // namespace lowtide
