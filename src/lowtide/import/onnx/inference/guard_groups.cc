// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/guard_groups.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {
namespace {

// Operators whose weights are divided into groups of channels, and the positions of their operands.
struct Grouped {
  std::string_view type;
  std::size_t weights;
  bool is_transposed;
};
constexpr Grouped kGrouped[] = {{"Conv", 1, false},
                                {"ConvInteger", 1, false},
                                {"ConvTranspose", 1, true},
                                {"DeformConv", 1, false},
                                {"QLinearConv", 3, false}};

std::optional<std::int64_t> exact_extent(std::span<const TensorFact* const> inputs, std::size_t index,
                                         std::size_t axis) {
  if (index >= inputs.size() || inputs[index] == nullptr || !inputs[index]->known.extents) return std::nullopt;
  const std::vector<KnownExtent>& extents = *inputs[index]->known.extents;
  if (axis >= extents.size() || extents[axis].knowledge != Knowledge::exact) return std::nullopt;
  return extents[axis].extent;
}

Result<void> check_channels(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                            const Grouped& grouped) {
  std::int64_t groups = 1;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "group") groups = attribute.i();
  }
  const auto channels = exact_extent(inputs, 0, 1);
  const auto first = exact_extent(inputs, grouped.weights, 0);
  const auto second = exact_extent(inputs, grouped.weights, 1);
  const std::string data = quoted(node.input(0));
  const std::string weights = quoted(node.input(static_cast<int>(grouped.weights)));
  const auto indivisible = [&](std::int64_t count, const std::string& what) {
    return Error{ErrorCode::invalid,
                 what + " has " + std::to_string(count) + " channels, which 'group' = " + std::to_string(groups) +
                     " does not divide",
                 ""};
  };
  if (channels && *channels % groups != 0) return indivisible(*channels, data);
  if (first && *first % groups != 0) return indivisible(*first, weights);
  const std::optional<std::int64_t> per_group = grouped.is_transposed ? first : second;
  const std::int64_t factor = grouped.is_transposed ? 1 : groups;
  if (!channels || !per_group || *channels / factor == *per_group) return {};
  return Error{ErrorCode::invalid,
               data + " has " + std::to_string(*channels) + " channels, but " + weights + " is for " +
                   std::to_string(*per_group) +
                   (factor == 1 ? "" : " in each of " + std::to_string(factor) + " groups"),
               ""};
}

}  // namespace

Result<void> guard_groups(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs) {
  const auto* grouped = std::ranges::find(kGrouped, std::string_view(node.op_type()), &Grouped::type);
  if (grouped == std::end(kGrouped) || !normalized_domain(node.domain()).empty()) return {};
  return check_channels(node, inputs, *grouped);
}

}  // namespace lowtide::import_internal
