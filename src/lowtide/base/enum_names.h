// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/listed.h"

namespace lowtide {

// The names of the values of an enum. They are in one table next to the enum:
//
//   enum class Role : std::uint8_t { input, output };
//   template <>
//   inline constexpr auto kEnumNames<Role> = enum_names<Role>({{Role::input, "input"}, {Role::output, "output"}});
//
//   to_string(Role::output)          "output"
//   from_string<Role>("output")      Role::output; nullopt for any other text
//   is_named(static_cast<Role>(7))   false
//   choices_of<Role>()               "input or output"
template <typename Enum>
inline constexpr bool kEnumNames = false;

// Makes the table of an enum. Requires: the rows list all values of the enum in the order 0, 1, 2 and so on. This is
// checked at compile time.
template <typename Enum, std::size_t count>
[[nodiscard]] consteval std::array<std::string_view, count> enum_names(
    const std::pair<Enum, std::string_view> (&rows)[count]) {
  std::array<std::string_view, count> names;
  for (std::size_t at = 0; at < count; ++at) {
    if (static_cast<std::size_t>(rows[at].first) != at) throw "the rows do not follow the values of the enum";
    names[at] = rows[at].second;
  }
  return names;
}

template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires {
  kEnumNames<Enum>.size();
};

// Returns false for a number that is not a value of the enum. A plan that was not read from a file may hold one.
template <NamedEnum Enum>
[[nodiscard]] constexpr bool is_named(Enum value) {
  return static_cast<std::size_t>(value) < kEnumNames<Enum>.size();
}

// Requires: is_named(value). The text ends in a null character.
template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view to_string(Enum value) {
  LOWTIDE_CHECK(is_named(value), "an enum holds one of its values");
  return kEnumNames<Enum>[static_cast<std::size_t>(value)];
}

template <NamedEnum Enum>
[[nodiscard]] constexpr std::optional<Enum> from_string(std::string_view name) {
  const auto found = std::find(kEnumNames<Enum>.begin(), kEnumNames<Enum>.end(), name);
  if (found == kEnumNames<Enum>.end()) return std::nullopt;
  return static_cast<Enum>(found - kEnumNames<Enum>.begin());
}

// All names, for messages.
template <NamedEnum Enum>
[[nodiscard]] std::string choices_of() {
  return listed(kEnumNames<Enum>, "or");
}

}  // namespace lowtide
