// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/bytes.h"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

#include "lowtide/base/check.h"
#include "lowtide/base/random.h"

namespace lowtide {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

template <typename A, typename B>
concept Addable = requires(A a, B b) {
  a + b;
};
static_assert(Addable<Offset, Bytes> && !Addable<Offset, Offset> && !Addable<Bytes, std::int64_t>,
              "units do not mix: Offset + Bytes is the only sum of two kinds");
static_assert(!std::is_convertible_v<std::int64_t, Bytes> && !std::is_convertible_v<Bytes, std::int64_t>);

TEST(Bytes, ArithmeticIsExactOrThrows) {
  EXPECT_EQ(Bytes(3) + Bytes(4), Bytes(7));
  EXPECT_EQ(Bytes(3) - Bytes(4), Bytes(-1));
  EXPECT_EQ(Bytes(3) * 4, Bytes(12));
  EXPECT_EQ(Offset(8) + Bytes(4), Offset(12));
  EXPECT_EQ(Offset(8) - Offset(12), Bytes(-4));
  EXPECT_THROW((void)(Bytes(kMost) + Bytes(1)), InvariantViolation);
  EXPECT_THROW((void)(Bytes(kMost) * 2), InvariantViolation);
  EXPECT_THROW((void)(Offset(kMost) + Bytes(1)), InvariantViolation);
  Bytes total(1);
  total += Bytes(2);
  total -= Bytes(5);
  EXPECT_EQ(total, Bytes(-2));
}

TEST(Bytes, RoundUpIsTheNextMultiple) {
  EXPECT_EQ(round_up(Bytes(0), Bytes(64)), Bytes(0));
  EXPECT_EQ(round_up(Bytes(1), Bytes(64)), Bytes(64));
  EXPECT_EQ(round_up(Bytes(64), Bytes(64)), Bytes(64));
  EXPECT_EQ(round_up(Bytes(65), Bytes(64)), Bytes(128));
  EXPECT_EQ(round_up(Bytes(5), Bytes(1)), Bytes(5));
  EXPECT_EQ(round_up(Offset(130), Bytes(64)), Offset(192));
  EXPECT_THROW((void)round_up(Bytes(1), Bytes(3)), InvariantViolation);
  EXPECT_THROW((void)round_up(Bytes(1), Bytes(0)), InvariantViolation);
  EXPECT_THROW((void)round_up(Bytes(kMost), Bytes(64)), InvariantViolation);
}

TEST(Bytes, PowersOfTwoAreRecognized) {
  int count = 0;
  for (std::int64_t number = -4; number <= 1024; ++number) count += is_power_of_two(number) ? 1 : 0;
  EXPECT_EQ(count, 11);  // 1, 2, 4, ..., 1024
  EXPECT_TRUE(is_power_of_two(std::int64_t{1} << 62));
  EXPECT_FALSE(is_power_of_two(std::numeric_limits<std::int64_t>::min()));
}

TEST(Bytes, FormatIsExactAndReadable) {
  EXPECT_EQ(format_bytes(Bytes(0)), "0 B");
  EXPECT_EQ(format_bytes(Bytes(1023)), "1,023 B");
  EXPECT_EQ(format_bytes(Bytes(1024)), "1,024 B (1.00 KiB)");
  EXPECT_EQ(format_bytes(Bytes(1234)), "1,234 B (1.21 KiB)");  // 1234 / 1024 = 1.205
  EXPECT_EQ(format_bytes(Bytes(-1234567)), "-1,234,567 B (-1.18 MiB)");
  EXPECT_EQ(format_bytes_short(Bytes(5)), "5 B");
  EXPECT_EQ(format_bytes_short(Bytes(3 << 20)), "3.00 MiB");
  EXPECT_EQ(format_bytes_short(Bytes(std::int64_t{5} << 40)), "5.00 TiB");
}

TEST(Bytes, ParseReadsSizes) {
  EXPECT_EQ(parse_bytes("4096"), Bytes(4096));
  EXPECT_EQ(parse_bytes("4096B"), Bytes(4096));
  EXPECT_EQ(parse_bytes("256KiB"), Bytes(256 * 1024));
  EXPECT_EQ(parse_bytes("256 KiB"), Bytes(256 * 1024));
  EXPECT_EQ(parse_bytes("1.5GiB"), Bytes(std::int64_t{3} << 29));  // 1.5 x 2^30
  EXPECT_EQ(parse_bytes("0.5KiB"), Bytes(512));
  EXPECT_EQ(parse_bytes("0"), Bytes(0));
  EXPECT_EQ(parse_bytes("9223372036854775807"), Bytes(kMost));
}

TEST(Bytes, ParseRefusesOtherTexts) {
  for (const char* text : {"",
                           "B",
                           "KiB",
                           "-1",
                           "+1",
                           "64MB",
                           "64Gi",
                           "64k",
                           "1,5",
                           "1.5",
                           "0.3KiB",
                           "1e3",
                           "nan",
                           "inf",
                           "0x10",
                           "1..5KiB",
                           "1.KiB",
                           ".5KiB",
                           "9223372036854775808",
                           "8388608TiB",
                           "1  KiB",
                           " 1",
                           "1 ",
                           "18446744073709551616",
                           "0.1234567MiB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(Bytes, ParseNeverCrashesAndNeverGivesANegativeSize) {
  Random random(5);
  static const std::string kAlphabet = "0123456789. KMGTiB-+e";
  for (int run = 0; run < 50'000; ++run) {
    std::string text;
    for (std::uint64_t count = random.below(24); count > 0; --count) text += kAlphabet[random.below(kAlphabet.size())];
    const std::optional<Bytes> size = parse_bytes(text);
    EXPECT_GE(size.value_or(Bytes()).count(), 0) << text;
  }
}

}  // namespace
}  // namespace lowtide
