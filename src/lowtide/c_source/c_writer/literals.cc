// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/literals.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "lowtide/base/check.h"

namespace lowtide::c_writer_internal {
namespace {

static_assert(std::endian::native == std::endian::little, "constants of programs are little endian");

// Calls function(element) for each element.
template <typename T, typename Function>
void for_each(std::string_view bytes, Function function) {
  LOWTIDE_CHECK(bytes.size() % sizeof(T) == 0, "a constant has whole elements");
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T element{};
    bytes.copy(reinterpret_cast<char*>(&element), sizeof(T), at);
    function(element);
  }
}

template <typename T>
std::string lines_of(std::string_view bytes) {
  std::string text;
  std::string line = " ";
  for_each<T>(bytes, [&](T element) {
    std::string word;
    if constexpr (sizeof(T) < sizeof(std::int32_t)) {
      word = literal(static_cast<std::int32_t>(element));
    } else {
      word = literal(element);
    }
    if (line.size() + word.size() + 2 > kMostColumns) {
      text += line + "\n";
      line = " ";
    }
    line += " " + word + ",";
  });
  return line.size() > 1 ? text + line + "\n" : text;
}

}  // namespace

std::string literal(std::int32_t number) {
  // There are no negative literals, and 2147483648 is no number of this type.
  if (number == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
  return std::to_string(number);
}

std::string literal(std::int64_t number) {
  if (number == std::numeric_limits<std::int64_t>::min()) return "(-INT64_C(9223372036854775807) - 1)";
  return (number < 0 ? "-INT64_C(" : "INT64_C(") + std::to_string(number < 0 ? -number : number) + ")";
}

std::string literal(float number) {
  if (std::isnan(number)) return "NAN";
  if (std::isinf(number)) return number < 0 ? "-INFINITY" : "INFINITY";
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), number);
  LOWTIDE_CHECK(error == std::errc(), "the digits of a float fit");
  std::string text(digits.begin(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

std::string element_lines(CType type, std::string_view bytes) {
  switch (type) {
    case CType::int8: return lines_of<std::int8_t>(bytes);
    case CType::uint8:
    case CType::boolean: return lines_of<std::uint8_t>(bytes);
    case CType::int16: return lines_of<std::int16_t>(bytes);
    case CType::int32: return lines_of<std::int32_t>(bytes);
    case CType::int64: return lines_of<std::int64_t>(bytes);
    case CType::float32: return lines_of<float>(bytes);
  }
  return "";
}

bool needs_math(CType type, std::string_view bytes) {
  bool needs = false;
  if (type == CType::float32) for_each<float>(bytes, [&](float element) { needs = needs || !std::isfinite(element); });
  return needs;
}

std::string braced(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (const std::int32_t number : numbers) text += (text.empty() ? "" : ", ") + literal(number);
  return "{" + text + "}";
}

}  // namespace lowtide::c_writer_internal
