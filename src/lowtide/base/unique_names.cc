// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/unique_names.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "lowtide/base/limits.h"

namespace lowtide {
namespace {

// The first `most` bytes of a name, without a part of a character of UTF-8 at the end.
std::string beginning_of(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end);
}

}  // namespace

std::vector<std::string> unique_names(std::span<const std::string> wanted, const MakeValid& make_valid) {
  constexpr auto kMost = static_cast<std::size_t>(limits::kMaxNameBytes);
  std::vector<std::string> names(wanted.size());
  std::vector<std::size_t> changed;
  std::unordered_set<std::string> taken;
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    std::string valid = beginning_of(make_valid(wanted[at]), kMost);
    const bool is_kept = valid == wanted[at] && taken.insert(valid).second;
    if (!is_kept) changed.push_back(at);
    names[at] = std::move(valid);
  }
  std::unordered_map<std::string, std::int64_t> next;  // the number to try for the next one of this name
  for (const std::size_t at : changed) {
    const std::string valid = names[at];
    std::int64_t& number = next.emplace(valid, 2).first->second;
    for (; !taken.insert(names[at]).second; ++number) {
      const std::string suffix = "_" + std::to_string(number);
      names[at] = beginning_of(valid, kMost - suffix.size()) + suffix;
    }
  }
  return names;
}

}  // namespace lowtide
