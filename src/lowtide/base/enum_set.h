// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "lowtide/base/check.h"

namespace lowtide {

// A set of values of an enum, each below 64:
//
//   enum class Side : std::uint8_t { left, right };
//   EnumSet<Side> sides = {Side::left};
//   sides.has(Side::right)                     false
//   sides | EnumSet<Side>{Side::right}         both; `&` is the intersection
//   sides - EnumSet<Side>{Side::left}          none
//
// All functions take O(1) time, and those that take a list take O(values).
template <typename Enum>
class EnumSet {
  static_assert(std::is_enum_v<Enum>);

 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<Enum> values) {
    for (Enum value : values) insert(value);
  }

  [[nodiscard]] constexpr bool has(Enum value) const { return (bits_ & bit_of(value)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  constexpr void insert(Enum value) { bits_ |= bit_of(value); }
  constexpr void erase(Enum value) { bits_ &= ~bit_of(value); }

  friend constexpr EnumSet operator|(EnumSet a, EnumSet b) { return EnumSet(a.bits_ | b.bits_); }
  friend constexpr EnumSet operator&(EnumSet a, EnumSet b) { return EnumSet(a.bits_ & b.bits_); }
  friend constexpr EnumSet operator-(EnumSet a, EnumSet b) { return EnumSet(a.bits_ & ~b.bits_); }
  friend constexpr bool operator==(EnumSet a, EnumSet b) = default;

 private:
  explicit constexpr EnumSet(std::uint64_t bits) : bits_(bits) {}

  static constexpr std::uint64_t bit_of(Enum value) {
    const auto at = static_cast<std::size_t>(value);
    LOWTIDE_CHECK(at < 64, "the values of a set are below 64");
    return std::uint64_t{1} << at;
  }

  std::uint64_t bits_ = 0;
};

}  // namespace lowtide
