// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::kernels_internal {

// Attributes of a node. Each returns `otherwise` if the attribute is absent or has another type.

[[nodiscard]] inline std::int64_t integer_attribute(const Node& node, std::string_view name, std::int64_t otherwise) {
  const auto* found = find_attribute<std::int64_t>(node.attributes, name);
  return found == nullptr ? otherwise : *found;
}
[[nodiscard]] inline double number_attribute(const Node& node, std::string_view name, double otherwise) {
  const auto* found = find_attribute<double>(node.attributes, name);
  return found == nullptr ? otherwise : *found;
}
[[nodiscard]] inline std::string text_attribute(const Node& node, std::string_view name, std::string_view otherwise) {
  const auto* found = find_attribute<std::string>(node.attributes, name);
  return found == nullptr ? std::string(otherwise) : *found;
}
// nullptr if it is absent.
[[nodiscard]] inline const std::vector<std::int64_t>* integers_attribute(const Node& node, std::string_view name) {
  return find_attribute<std::vector<std::int64_t>>(node.attributes, name);
}
// An empty list if it is absent.
[[nodiscard]] inline std::vector<std::int64_t> list_attribute(const Node& node, std::string_view name) {
  const std::vector<std::int64_t>* found = integers_attribute(node, name);
  return found == nullptr ? std::vector<std::int64_t>() : *found;
}

}  // namespace lowtide::kernels_internal
