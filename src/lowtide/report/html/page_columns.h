// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/json_writer.h"
#include "lowtide/report/text/page_text.h"

// Members of the JSON that the page reads. A table is an object of columns, with one list per attribute.
namespace lowtide::report_internal {

// "key":[...], where `at` gives the number of each row.
template <typename Function>
void add_column(JsonWriter& json, std::string_view key, std::size_t rows, Function at) {
  json.key(key);
  json.begin_array();
  for (std::size_t row = 0; row < rows; ++row) json.value(static_cast<std::int64_t>(at(row)));
  json.end_array();
}

// The same for names from a file.
template <typename Function>
void add_names(JsonWriter& json, std::string_view key, std::size_t rows, Function at) {
  json.key(key);
  json.begin_array();
  for (std::size_t row = 0; row < rows; ++row) json.value(name_in_page(at(row)));
  json.end_array();
}

inline void add_name(JsonWriter& json, std::string_view key, std::string_view name) {
  json.member(key, name_in_page(name));
}

inline void add_strings(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

// Texts that many rows share, numbered in order of first use.
class SharedTexts {
 public:
  std::int64_t index_of(std::string text) {
    const auto [at, is_new] = index_.try_emplace(std::move(text), static_cast<std::int64_t>(texts_.size()));
    if (is_new) texts_.push_back(at->first);
    return at->second;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::int64_t> index_;
  std::vector<std::string> texts_;
};

}  // namespace lowtide::report_internal
