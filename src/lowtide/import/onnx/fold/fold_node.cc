// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/fold/fold_node.h"

#include <algorithm>

#include "lowtide/base/checked.h"

namespace lowtide::import_internal {
namespace {

// More than any tensor of extents, axes or pads has.
constexpr std::int64_t kMostUnknownElements = 256;

}  // namespace

bool FoldNode::has_input(std::size_t index) const {
  return index < request_.inputs.size() && request_.inputs[index].dtype.has_value();
}

std::optional<DType> FoldNode::dtype(std::size_t index) const {
  return index < request_.inputs.size() ? request_.inputs[index].dtype : std::nullopt;
}

const std::vector<KnownExtent>* FoldNode::partly_known_extents(std::size_t index) const {
  if (index >= request_.inputs.size() || !request_.inputs[index].extents) return nullptr;
  return &*request_.inputs[index].extents;
}

std::optional<Extents> FoldNode::extents(std::size_t index) const {
  const std::vector<KnownExtent>* known = partly_known_extents(index);
  if (known == nullptr) {
    const Content known_content = content(index);
    return known_content == nullptr ? std::nullopt : std::optional(known_content->extents);
  }
  Extents result;
  for (const KnownExtent& extent : *known) {
    if (extent.knowledge != Knowledge::exact) return std::nullopt;
    result.push_back(extent.extent);
  }
  return result;
}

Content FoldNode::content(std::size_t index) const {
  if (index >= request_.inputs.size()) return nullptr;
  const Content& known = request_.inputs[index].content;
  if (known == nullptr || !is_foldable(known->dtype)) return nullptr;
  const std::optional<std::int64_t> count = folded_count(known->extents);
  if (!count || static_cast<std::size_t>(*count) != known->elements.size()) return nullptr;
  return known;
}

Content FoldNode::content_or_unknown(std::size_t index) const {
  if (Content known = content(index)) return known;
  const std::optional<DType> type = dtype(index);
  const std::optional<Extents> shape = extents(index);
  if (!type || !is_integer(*type) || !shape) return nullptr;
  const std::optional<std::int64_t> count = folded_count(*shape);
  return count && *count <= kMostUnknownElements ? blank(*type, *shape) : nullptr;
}

std::optional<Extents> FoldNode::exact_integers(std::size_t index) const {
  const Content known = content(index);
  if (known == nullptr || !is_integer(known->dtype)) return std::nullopt;
  Extents result;
  result.reserve(known->elements.size());
  for (const KnownElement& element : known->elements) {
    if (element.knowledge != Knowledge::exact) return std::nullopt;
    result.push_back(element.integer);
  }
  return result;
}

std::optional<std::int64_t> FoldNode::exact_scalar(std::size_t index) const {
  const std::optional<Extents> numbers = exact_integers(index);
  if (!numbers || numbers->size() != 1) return std::nullopt;
  return numbers->front();
}

std::int64_t FoldNode::integer(std::string_view attribute, std::int64_t otherwise) const {
  const auto* number = find_attribute<std::int64_t>(request_.attributes, attribute);
  return number == nullptr ? otherwise : *number;
}

std::string_view FoldNode::text(std::string_view attribute, std::string_view otherwise) const {
  const auto* value = find_attribute<std::string>(request_.attributes, attribute);
  return value == nullptr ? otherwise : std::string_view{*value};
}

const Extents* FoldNode::integers(std::string_view attribute) const {
  return find_attribute<Extents>(request_.attributes, attribute);
}

ListSetting FoldNode::list(std::string_view attribute, std::size_t input) const {
  if (const Extents* given = integers(attribute)) return {.is_given = true, .values = *given};
  if (!has_input(input)) return {};
  return {.is_given = true, .values = exact_integers(input)};
}

Content FoldNode::content_attribute(std::string_view name) const {
  for (const ContentAttribute& attribute : request_.content_attributes) {
    if (attribute.name == name) return attribute.content;
  }
  return nullptr;
}

std::optional<std::int64_t> folded_count(const Extents& extents) {
  if (extents.size() > static_cast<std::size_t>(limits::kMaxRank)) return std::nullopt;
  std::int64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t extent : extents) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) is_empty = true;
  }
  if (is_empty) return 0;
  for (const std::int64_t extent : extents) {
    const std::optional<std::int64_t> product = checked_multiply(count, extent);
    if (!product || *product > limits::kMaxFoldedElements) return std::nullopt;
    count = *product;
  }
  return count;
}

// No position of an empty tensor is ever read, so a stride that would overflow can be 0.
Extents strides_of(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t axis = extents.size(); axis-- > 1;) {
    strides[axis - 1] = checked_multiply(strides[axis], extents[axis]).value_or(0);
  }
  return strides;
}

std::optional<std::size_t> normal_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::optional<std::vector<std::size_t>> normal_axes(const Extents& axes, std::size_t rank) {
  std::vector<std::size_t> result;
  for (const std::int64_t axis : axes) {
    const std::optional<std::size_t> normal = normal_axis(axis, rank);
    if (!normal || std::find(result.begin(), result.end(), *normal) != result.end()) return std::nullopt;
    result.push_back(*normal);
  }
  return result;
}

std::shared_ptr<KnownContent> blank(DType dtype, const Extents& extents) {
  const std::optional<std::int64_t> count = folded_count(extents);
  if (!count || !is_foldable(dtype)) return nullptr;
  auto result = std::make_shared<KnownContent>();
  result->dtype = dtype;
  result->extents = extents;
  result->elements.resize(static_cast<std::size_t>(*count));
  return result;
}

Content strided(const KnownContent& source, const Extents& extents, const Extents& strides, std::int64_t base) {
  std::shared_ptr<KnownContent> result = blank(source.dtype, extents);
  if (result == nullptr) return nullptr;
  Extents index(extents.size(), 0);
  std::int64_t position = base;
  for (KnownElement& element : result->elements) {
    element = source.elements[static_cast<std::size_t>(position)];
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      position += strides[axis];
      if (++index[axis] < extents[axis]) break;
      position -= strides[axis] * extents[axis];
      index[axis] = 0;
    }
  }
  return result;
}

std::optional<Extents> broadcast(const Extents& a, const Extents& b) {
  const Extents& longer = a.size() >= b.size() ? a : b;
  const Extents& shorter = a.size() >= b.size() ? b : a;
  Extents result = longer;
  const std::size_t shift = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    std::int64_t& extent = result[shift + axis];
    if (extent == 1) {
      extent = shorter[axis];
    } else if (shorter[axis] != 1 && shorter[axis] != extent) {
      return std::nullopt;
    }
  }
  return result;
}

Content broadcast_to(const Content& source, const Extents& extents) {
  if (source->extents == extents) return source;
  const Extents own = strides_of(source->extents);
  const std::size_t shift = extents.size() - source->extents.size();
  Extents strides(extents.size(), 0);
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    strides[shift + axis] = source->extents[axis] == 1 ? 0 : own[axis];
  }
  return strided(*source, extents, strides, 0);
}

AxisView axis_view(const Extents& extents, std::size_t axis) {
  AxisView view;
  view.extent = extents[axis];
  for (std::size_t i = 0; i < axis; ++i) view.outer = checked_multiply(view.outer, extents[i]).value_or(0);
  for (std::size_t i = axis + 1; i < extents.size(); ++i) {
    view.inner = checked_multiply(view.inner, extents[i]).value_or(0);
  }
  return view;
}

}  // namespace lowtide::import_internal
