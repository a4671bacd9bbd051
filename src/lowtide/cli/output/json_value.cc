// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/json_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "lowtide/base/check.h"
#include "lowtide/base/hex.h"

namespace lowtide::cli_internal {
namespace {

void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          append_hex(out, static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// The fewest digits that give the number again: 0.25, 1000.0, 1e-05, 2.5e+16.
void append_number(std::string& out, double number) {
  constexpr int kLeast = -4;  // of exponents that are not written
  constexpr int kMost = 14;
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  std::array<char, 64> buffer{};
  const auto scientific =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific);
  const std::string_view shortest(buffer.data(), static_cast<std::size_t>(scientific.ptr - buffer.data()));
  int exponent = 0;
  std::size_t at = shortest.find('e') + 1;
  if (shortest[at] == '+') ++at;
  std::from_chars(shortest.data() + at, shortest.data() + shortest.size(), exponent);
  if (number != 0 && (exponent < kLeast || exponent > kMost)) {
    out += shortest;
    return;
  }
  const auto fixed = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed);
  const std::string_view plain(buffer.data(), static_cast<std::size_t>(fixed.ptr - buffer.data()));
  out += plain;
  if (plain.find('.') == std::string_view::npos) out += ".0";
}

void begin_line(std::string& out, int indentation, int level) {
  if (indentation == 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indentation) * static_cast<std::size_t>(level), ' ');
}

}  // namespace

Json::Json(std::initializer_list<Json> items) {
  const auto is_member = [](const Json& item) {
    const Items* pair = std::get_if<Items>(&item.value_);
    return pair != nullptr && pair->size() == 2 && std::holds_alternative<std::string>(pair->front().value_);
  };
  if (!std::ranges::all_of(items, is_member)) {
    value_ = Items(items);
    return;
  }
  Members& members = value_.emplace<Members>();
  for (const Json& item : items) {
    const Items& pair = std::get<Items>(item.value_);
    members.emplace_back(std::get<std::string>(pair[0].value_), pair[1]);
  }
}

Json& Json::operator[](std::string_view key) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Members();
  Members* members = std::get_if<Members>(&value_);
  LOWTIDE_CHECK(members != nullptr, "only an object has keys");
  const auto found = std::ranges::find(*members, key, &Members::value_type::first);
  return found == members->end() ? members->emplace_back(std::string(key), Json()).second : found->second;
}

Json& Json::operator[](std::size_t index) {
  Items* items = std::get_if<Items>(&value_);
  LOWTIDE_CHECK(items != nullptr && index < items->size(), "an array has the elements that are asked for");
  return (*items)[index];
}

Json& Json::push_back(Json item) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Items();
  Items* items = std::get_if<Items>(&value_);
  LOWTIDE_CHECK(items != nullptr, "only an array gets elements");
  return items->emplace_back(std::move(item));
}

void Json::update(const Json& other) {
  if (const Members* members = std::get_if<Members>(&other.value_)) {
    for (const auto& [key, value] : *members) (*this)[key] = value;
  }
}

std::size_t Json::size() const {
  if (const Items* items = std::get_if<Items>(&value_)) return items->size();
  const Members* members = std::get_if<Members>(&value_);
  return members == nullptr ? 0 : members->size();
}

std::string Json::text(int indentation) const {
  std::string out;
  append(out, indentation, 0);
  return out;
}

void Json::append(std::string& out, int indentation, int level) const {
  const auto append_all = [&](char open, char close, const auto& all, auto append_one) {
    out += open;
    bool is_first = true;
    for (const auto& one : all) {
      if (!is_first) out += ',';
      is_first = false;
      begin_line(out, indentation, level + 1);
      append_one(one);
    }
    if (!is_first) begin_line(out, indentation, level);
    out += close;
  };
  if (std::holds_alternative<std::nullptr_t>(value_)) {
    out += "null";
  } else if (const bool* truth = std::get_if<bool>(&value_)) {
    out += *truth ? "true" : "false";
  } else if (const std::int64_t* integer = std::get_if<std::int64_t>(&value_)) {
    out += std::to_string(*integer);
  } else if (const double* number = std::get_if<double>(&value_)) {
    append_number(out, *number);
  } else if (const std::string* text = std::get_if<std::string>(&value_)) {
    append_text(out, *text);
  } else if (const Items* items = std::get_if<Items>(&value_)) {
    append_all('[', ']', *items, [&](const Json& item) { item.append(out, indentation, level + 1); });
  } else {
    append_all('{', '}', std::get<Members>(value_), [&](const auto& member) {
      append_text(out, member.first);
      out += indentation == 0 ? ":" : ": ";
      member.second.append(out, indentation, level + 1);
    });
  }
}

}  // namespace lowtide::cli_internal
