// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/check.h"

namespace lowtide {

// A string for each id. All characters are in one buffer, one string after another. A string takes its characters and 4
// bytes, where std::string takes at least 32 bytes. Strings can be appended and never changed. The range of an id is
// not checked. Requires: fewer than 2^32 characters in total.
template <typename IdType>
class StringTable {
 public:
  StringTable() = default;
  StringTable(std::initializer_list<std::string_view> strings) {
    for (std::string_view string : strings) push_back(string);
  }

  // The result is valid until a string is appended.
  [[nodiscard]] std::string_view operator[](IdType id) const {
    const std::size_t begin = id.index() == 0 ? 0 : ends_[id.index() - 1];
    return {characters_.data() + begin, ends_[id.index()] - begin};
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] bool contains(IdType id) const { return id.index() < ends_.size(); }

  // Appends and returns the id of the new string.
  IdType push_back(std::string_view string) {
    LOWTIDE_CHECK(characters_.size() + string.size() < std::size_t{1} << 32U,
                  "a string table has fewer than 2^32 characters");
    characters_.append(string);
    ends_.push_back(static_cast<std::uint32_t>(characters_.size()));
    return IdType(static_cast<std::uint32_t>(ends_.size() - 1));
  }

  // Frees the memory that was kept for more strings.
  void shrink_to_fit() {
    characters_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

  friend bool operator==(const StringTable&, const StringTable&) = default;

 private:
  std::string characters_;
  std::vector<std::uint32_t> ends_;  // of each string in `characters_`
};

}  // namespace lowtide
