// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The forms of options that determine sizes, such as --dim batch=8.
namespace lowtide::cli_internal {

struct Binding {
  std::string name;
  std::string value;
};

// Splits at the last "=", because a name may contain one and a value never does. nullopt if a part is empty.
[[nodiscard]] std::optional<Binding> split_binding(const std::string& word);

// The extents of a text such as "1x3x?x224", with -1 for "?". Stops with an error that names the option and the word.
[[nodiscard]] std::vector<std::int64_t> read_extents(std::string_view option, const std::string& word,
                                                     std::string_view text);

}  // namespace lowtide::cli_internal
