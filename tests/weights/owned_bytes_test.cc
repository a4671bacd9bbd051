// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/weights/owned_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace lowtide {
namespace {

bool is_all(std::span<const std::byte> bytes, std::byte value) {
  return std::ranges::all_of(bytes, [&](std::byte one) { return one == value; });
}

TEST(OwnedBytes, AreZeroAndAligned) {
  for (const std::int64_t size : {0L, 1L, 100L, OwnedBytes::kLeastMapped.count() - 1, 100'000L}) {
    const std::optional<OwnedBytes> memory = OwnedBytes::allocate(Bytes(size));
    ASSERT_TRUE(memory.has_value());
    EXPECT_EQ(memory->bytes().size(), static_cast<std::size_t>(size));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->bytes().data()) % 64, 0U);
    EXPECT_TRUE(is_all(memory->bytes(), std::byte{0}));
  }
}

TEST(OwnedBytes, KeepTheirAddressWhenTheyMove) {
  for (const std::int64_t size : {100, 100'000}) {
    OwnedBytes memory = *OwnedBytes::allocate(Bytes(size));
    std::ranges::fill(memory.bytes(), std::byte{7});
    const std::byte* address = memory.bytes().data();
    OwnedBytes moved;
    EXPECT_TRUE(moved.bytes().empty());
    moved = std::move(memory);
    EXPECT_EQ(moved.bytes().data(), address);
    EXPECT_TRUE(is_all(moved.bytes(), std::byte{7}));
  }
}

// The first page has a byte that stays, and so has the third one. What comes after them is dropped to the end.
TEST(OwnedBytes, DropWholePagesOfARange) {
  constexpr std::size_t kPage = 65'536;  // no system has larger ones by default
  constexpr std::size_t kSize = 6 * kPage + 10;
  const OwnedBytes memory = *OwnedBytes::allocate(Bytes(kSize));
  std::ranges::fill(memory.bytes(), std::byte{7});
  memory.drop({1, 2 * kPage + 1});
  memory.drop({3 * kPage, kSize});
  EXPECT_TRUE(is_all(memory.bytes().first(1), std::byte{7}));
  EXPECT_TRUE(is_all(memory.bytes().subspan(kPage, kPage), std::byte{0}));
  EXPECT_TRUE(is_all(memory.bytes().subspan(2 * kPage, kPage), std::byte{7}));
  EXPECT_TRUE(is_all(memory.bytes().subspan(3 * kPage), std::byte{0}));
}

TEST(OwnedBytes, OfTheHeapAreNeverDropped) {
  const OwnedBytes memory = *OwnedBytes::allocate(Bytes(20'000));
  std::ranges::fill(memory.bytes(), std::byte{7});
  memory.drop({0, 20'000});
  EXPECT_TRUE(is_all(memory.bytes(), std::byte{7}));
}

TEST(OwnedBytes, SayThatThereIsNoMemory) {
  EXPECT_FALSE(OwnedBytes::allocate(Bytes(std::int64_t{1} << 60)).has_value());
}

}  // namespace
}  // namespace lowtide
