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

#include "lowtide/report/page_text.h"

// Members of the JSON that the page reads: columns, one list an attribute, and single values.
namespace lowtide::report_internal {

// "key":[...], where `at` gives one row's number.
template <typename Function>
void append_column(std::string& out, std::string_view key, std::size_t rows, Function at) {
  append_json_key(out, key);
  out += '[';
  for (std::size_t row = 0; row < rows; ++row) {
    if (row != 0) out += ',';
    append_json_integer(out, at(row));
  }
  out += ']';
}

// The same of names from a file.
template <typename Function>
void append_names(std::string& out, std::string_view key, std::size_t rows, Function at) {
  append_json_key(out, key);
  out += '[';
  for (std::size_t row = 0; row < rows; ++row) {
    if (row != 0) out += ',';
    append_json_string(out, name_in_page(at(row)));
  }
  out += ']';
}

inline void append_text_member(std::string& out, std::string_view key, std::string_view text) {
  append_json_key(out, key);
  append_json_string(out, name_in_page(text));
}

inline void append_integer_member(std::string& out, std::string_view key, std::int64_t number) {
  append_json_key(out, key);
  append_json_integer(out, number);
}

inline void append_flag_member(std::string& out, std::string_view key, bool flag) {
  append_json_key(out, key);
  out += flag ? "true" : "false";
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
