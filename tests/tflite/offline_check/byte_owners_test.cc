// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/offline_check/byte_owners.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "lowtide/base/random.h"

namespace lowtide::offline_check_internal {
namespace {

TEST(ByteOwners, FindsWhatAnotherWriteHasTouched) {
  ByteOwners bytes;
  bytes.write(16, 48, 1);
  EXPECT_EQ(bytes.other_than(16, 48, 1), 1u);
  EXPECT_EQ(bytes.other_than(0, 48, 1), 0u);
  bytes.write(40, 64, 2);
  EXPECT_EQ(bytes.other_than(16, 48, 1), 2u);
  EXPECT_EQ(bytes.other_than(16, 40, 1), 1u);
}

TEST(ByteOwners, MergingKeepsWhatBothHave) {
  ByteOwners one;
  one.write(0, 64, 1);
  ByteOwners other = one;
  other.write(16, 32, 2);
  one.merge(other);
  EXPECT_EQ(one.other_than(0, 16, 1), 1u);
  EXPECT_EQ(one.other_than(16, 32, 1), 0u);
  EXPECT_EQ(one.other_than(32, 64, 1), 1u);
}

// The same as an array with one number per byte.
TEST(ByteOwners, AgreesWithAnArray) {
  constexpr std::size_t kBytes = 40;
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    std::array<ByteOwners, 2> owners;
    std::array<std::array<std::uint32_t, kBytes>, 2> plain{};
    for (std::uint32_t content = 1; content < 12; ++content) {
      const std::size_t which = random.below(2);
      const std::size_t begin = random.below(kBytes);
      const std::size_t end = begin + 1 + random.below(kBytes - begin);
      // Sometimes both sides have the same content.
      for (std::size_t side = 0; side < 2; ++side) {
        if (side != which && content % 3 != 0) continue;
        owners[side].write(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end), content);
        std::fill(plain[side].begin() + begin, plain[side].begin() + end, content);
      }
    }
    owners[0].merge(owners[1]);
    for (std::size_t at = 0; at < kBytes; ++at) {
      const std::uint32_t both = plain[0][at] == plain[1][at] ? plain[0][at] : 0;
      const auto byte = static_cast<std::int64_t>(at);
      EXPECT_EQ(owners[0].other_than(byte, byte + 1, 99), both);
      EXPECT_EQ(owners[1].other_than(byte, byte + 1, 99), plain[1][at]);
    }
  }
}

}  // namespace
}  // namespace lowtide::offline_check_internal
