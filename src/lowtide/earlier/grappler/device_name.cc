// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/device_name.h"

#include <optional>

#include "lowtide/base/parse_number.h"

namespace lowtide::grappler_internal {
namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes "device:GPU:0", "gpu:0" or "cpu:0". nullopt if the kind or the number is missing.
std::optional<std::string> take_kind(std::string_view part) {
  const bool is_long = take_prefix(part, "device:");
  const std::size_t colon = part.find(':');
  if (colon == std::string_view::npos || colon == 0 || !parse_number(part.substr(colon + 1))) return std::nullopt;
  std::string kind(part.substr(0, colon));
  if (is_long) return kind;
  if (kind == "gpu" || kind == "GPU") return "GPU";
  if (kind == "cpu" || kind == "CPU") return "CPU";
  return std::nullopt;
}

}  // namespace

DeviceParts device_parts(std::string_view name) {
  DeviceParts parts;
  std::optional<std::string> kind;
  while (!name.empty()) {
    if (!take_prefix(name, "/")) return {};
    const std::size_t end = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, end);
    name.remove_prefix(end);
    const bool is_of_task = part.starts_with("job:") || part.starts_with("replica:") || part.starts_with("task:");
    if (is_of_task) {
      parts.task += "/" + std::string(part);
    } else {
      kind = take_kind(part);
      if (!kind) return {};
    }
  }
  if (!kind) return {};
  parts.kind = *std::move(kind);
  return parts;
}

}  // namespace lowtide::grappler_internal
