// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace lowtide::cli_internal {

// A value of JSON. The keys of an object keep the order in which they are added.
//
//   Json json{{"name", "conv"}, {"bytes", 64}, {"steps", Json::array()}};
//   json["steps"].push_back(3);
//   json.text(2)    the same as text, with an indentation of two spaces
//
// A list in braces is an object if all of its elements are pairs that begin with a text, and otherwise an array.
class Json {
 public:
  Json() = default;  // null
  // NOLINTBEGIN(google-explicit-constructor): values in braces become JSON as they are
  Json(std::nullptr_t) {}
  Json(std::same_as<bool> auto truth) : value_(truth) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T number) : value_(static_cast<std::int64_t>(number)) {}
  Json(double number) : value_(number) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(const char* text) : value_(std::string(text)) {}
  template <typename T>
  Json(const std::vector<T>& items) : value_(Items(items.begin(), items.end())) {}
  Json(std::initializer_list<Json> items);
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] static Json array() { return Json(Items()); }
  [[nodiscard]] static Json object() { return Json(Members()); }

  // The value of a key, which is added as null if it is not there. Null becomes an object. Requires: an object or null.
  Json& operator[](std::string_view key);
  // Requires: an array with this index.
  Json& operator[](std::size_t index);

  // Adds an element and returns it. Null becomes an array. Requires: an array or null.
  Json& push_back(Json item);
  // Adds the members of an object, or replaces those that are there. Requires: both are objects or null.
  void update(const Json& other);

  [[nodiscard]] bool empty() const { return size() == 0; }
  // The number of elements or members; 0 of other values.
  [[nodiscard]] std::size_t size() const;

  // The text, with `indentation` spaces per level and one line per element, or on one line if it is 0. Numbers that are
  // not finite are null. Requires: texts are UTF-8 (json_text).
  [[nodiscard]] std::string text(int indentation = 0) const;

 private:
  using Items = std::vector<Json>;
  using Members = std::vector<std::pair<std::string, Json>>;

  explicit Json(Items items) : value_(std::move(items)) {}
  explicit Json(Members members) : value_(std::move(members)) {}

  void append(std::string& out, int indentation, int level) const;

  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Items, Members> value_ = nullptr;
};

}  // namespace lowtide::cli_internal
