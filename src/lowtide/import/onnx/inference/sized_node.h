// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/import/onnx/inference/extent_symbol.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

// Helpers that the size rules share (size_rules.h).
namespace lowtide::import_internal {

using KnownExtents = std::vector<KnownExtent>;

// A node with its facts, and functions to look them up.
struct Sized {
  const onnx::NodeProto& node;
  std::span<const TensorFact* const> inputs;
  std::vector<TensorFact>& outputs;

  [[nodiscard]] const KnownExtents* extents(std::size_t input) const {
    if (input >= inputs.size() || inputs[input] == nullptr || !inputs[input]->known.extents) return nullptr;
    return &*inputs[input]->known.extents;
  }
  [[nodiscard]] bool has(std::size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  [[nodiscard]] const KnownContent* content(std::size_t input) const {
    return has(input) ? inputs[input]->known.content.get() : nullptr;
  }
  [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const {
    for (const onnx::AttributeProto& candidate : node.attribute()) {
      if (candidate.name() == name) return &candidate;
    }
    return nullptr;
  }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const onnx::AttributeProto* found = attribute(name);
    return found == nullptr ? otherwise : found->i();
  }
  // The extents of an output; nullptr if it has no rank.
  [[nodiscard]] KnownExtents* output(std::size_t index) const {
    if (index >= outputs.size() || !outputs[index].is_tensor || !outputs[index].known.extents) return nullptr;
    return &*outputs[index].known.extents;
  }
  [[nodiscard]] std::string symbol(std::size_t index, std::size_t axis) const {
    return extent_symbol(node.output(static_cast<int>(index)), axis);
  }
  void give_rank(std::size_t index, std::size_t rank) const {
    if (index >= outputs.size() || outputs[index].known.extents) return;
    KnownExtents& made = outputs[index].known.extents.emplace();
    for (std::size_t axis = 0; axis < rank; ++axis) made.push_back({Knowledge::unknown, 0, symbol(index, axis)});
  }
};

// An upper bound; nullopt if none is known.
using Bound = std::optional<std::int64_t>;

inline Bound bound_of(const KnownExtent& extent) {
  return extent.knowledge == Knowledge::unknown ? Bound() : Bound(extent.extent);
}
inline Bound bound_of(const KnownElement& element) {
  return element.knowledge == Knowledge::unknown ? Bound() : Bound(std::max<std::int64_t>(0, element.integer));
}
inline Bound product(Bound a, Bound b) { return a && b ? checked_multiply(*a, *b) : std::nullopt; }
inline Bound least(Bound a, Bound b) { return a && b ? std::min(*a, *b) : (a ? a : b); }

inline Bound element_bound(const KnownExtents& extents) {
  Bound count = 1;
  for (const KnownExtent& extent : extents) count = product(count, bound_of(extent));
  return count;
}

inline bool is_open(const KnownExtent& extent) { return extent.knowledge != Knowledge::exact; }

inline void set_exact(KnownExtent& extent, std::int64_t number) {
  if (is_open(extent) && number >= 0) extent = {Knowledge::exact, number, ""};
}

inline void set_bound(KnownExtent& extent, Bound bound) {
  if (!bound || !is_open(extent) || *bound > limits::kMaxTensorBytes) return;  // a larger bound is useless
  if (extent.knowledge == Knowledge::at_most && extent.extent <= *bound) return;
  extent.knowledge = Knowledge::at_most;
  extent.extent = *bound;
}

inline std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  if (axis < -extent || axis >= extent) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + extent : axis);
}

// Returns an element of a list, or nullptr if the list is unknown or too short.
inline const KnownElement* element_at(const KnownContent* content, std::size_t index) {
  return content != nullptr && index < content->elements.size() ? &content->elements[index] : nullptr;
}

inline std::optional<std::int64_t> exact_at(const KnownContent* content, std::size_t index) {
  const KnownElement* element = element_at(content, index);
  if (element == nullptr || element->knowledge != Knowledge::exact) return std::nullopt;
  return element->integer;
}

}  // namespace lowtide::import_internal
