// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/kept_facts.h"

#include "lowtide/earlier/graphdef/format.h"

namespace lowtide::graphdef_internal {
namespace {

// A few bytes can state a large number of positions.
constexpr std::int64_t kMostOmitted = 4096;

const ProtoMessage* list_of(const NodeView& node, std::string_view key) {
  const ProtoMessage* value = node.value(key);
  return value == nullptr ? nullptr : find_message(*value, value_field::kList);
}

}  // namespace

std::vector<std::string_view> kept_texts(const NodeView& node, std::string_view key) {
  const ProtoMessage* list = list_of(node, key);
  return list == nullptr ? std::vector<std::string_view>() : texts_of(*list, value_field::kText);
}

std::optional<std::vector<std::optional<TensorType>>> kept_types(const NodeView& node) {
  if (list_of(node, kept::kTypes) == nullptr) return std::nullopt;
  std::vector<std::optional<TensorType>> types;
  for (std::string_view text : kept_texts(node, kept::kTypes)) types.push_back(parse_tensor_type(text));
  return types;
}

Result<std::vector<std::int64_t>> kept_inputs(const NodeView& node, std::size_t inputs) {
  const std::vector<std::int64_t> positions = node.integers(kept::kInputs);
  if (positions.empty()) return positions;
  const auto count = static_cast<std::int64_t>(inputs);
  bool is_valid = positions.size() == inputs + 1 && positions.front() >= 0 && positions.back() <= count + kMostOmitted;
  for (std::size_t at = 1; at < positions.size(); ++at) {
    const std::int64_t least = positions[at - 1] + 1;
    // The last one is no position, and may follow the one before it.
    is_valid = is_valid && positions[at - 1] <= count + kMostOmitted && positions[at] >= least;
  }
  if (is_valid) return positions;
  return Error{ErrorCode::invalid, "its attribute '" + std::string(kept::kInputs) + "' does not fit its inputs",
               shown_node(node)};
}

}  // namespace lowtide::graphdef_internal
