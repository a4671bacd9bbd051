// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "lowtide/base/article.h"
#include "lowtide/base/checked.h"
#include "lowtide/import/onnx/fold/fold_node.h"

// Rules of operators that move whole elements or read extents. Knowledge, bounds and symbols move with the elements.
namespace lowtide::import_internal {
namespace {

KnownElement element_of_extent(const KnownExtent& extent) {
  KnownElement element;
  element.knowledge = extent.knowledge;
  if (extent.knowledge == Knowledge::unknown) {
    element.symbol = extent.symbol;
  } else {
    element.integer = extent.extent;
  }
  return element;
}

// The same elements in another shape with the same count.
Content reshaped(const Content& source, Extents extents) {
  const std::optional<std::int64_t> count = folded_count(extents);
  if (!count || static_cast<std::size_t>(*count) != source->elements.size()) return nullptr;
  auto result = std::make_shared<KnownContent>(*source);
  result->extents = std::move(extents);
  return result;
}

Result<Contents> identity(const FoldNode& node) { return single(node.content(0)); }

Result<Contents> shape(const FoldNode& node) {
  const std::vector<KnownExtent>* extents = node.partly_known_extents(0);
  if (extents == nullptr) return nothing();
  const auto rank = static_cast<std::int64_t>(extents->size());
  const auto bounded = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + rank : index, 0, rank);
  };
  const std::int64_t begin = bounded(node.integer("start", 0));
  const std::int64_t end = std::max(begin, bounded(node.integer("end", rank)));
  std::shared_ptr<KnownContent> result = blank(DType::i64, {end - begin});
  if (result == nullptr) return nothing();
  for (std::int64_t axis = begin; axis < end; ++axis) {
    result->elements[static_cast<std::size_t>(axis - begin)] =
        element_of_extent((*extents)[static_cast<std::size_t>(axis)]);
  }
  return single(result);
}

Result<Contents> size(const FoldNode& node) {
  const std::vector<KnownExtent>* extents = node.partly_known_extents(0);
  if (extents == nullptr) return nothing();
  std::shared_ptr<KnownContent> result = blank(DType::i64, {});
  KnownElement& product = result->elements[0];
  product = exact_integer(1);
  for (const KnownExtent& extent : *extents) {
    if (extent.knowledge == Knowledge::exact && extent.extent == 0) {
      product = exact_integer(0);
      return single(result);
    }
  }
  for (const KnownExtent& extent : *extents) {
    const std::optional<std::int64_t> next = checked_multiply(product.integer, extent.extent);
    if (extent.knowledge == Knowledge::unknown || !next) return nothing();
    product.integer = *next;
    if (extent.knowledge == Knowledge::at_most) product.knowledge = Knowledge::at_most;
  }
  return single(result);
}

Result<Contents> concat(const FoldNode& node) {
  const std::size_t count = node.input_count();
  std::vector<Content> parts;
  for (std::size_t i = 0; i < count; ++i) {
    parts.push_back(node.content_or_unknown(i));
    if (parts.back() == nullptr || parts.back()->dtype != parts.front()->dtype) return nothing();
  }
  if (parts.empty()) return nothing();
  Extents extents = parts.front()->extents;
  const std::optional<std::size_t> axis = normal_axis(node.integer("axis", 1), extents.size());
  if (!axis) return nothing();
  std::int64_t along = 0;
  for (const Content& part : parts) {
    if (part->extents.size() != extents.size()) return nothing();
    const std::optional<std::int64_t> sum = checked_add(along, part->extents[*axis]);
    if (!sum) return nothing();
    along = *sum;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (i != *axis && part->extents[i] != extents[i]) return nothing();
    }
  }
  extents[*axis] = along;
  std::shared_ptr<KnownContent> result = blank(parts.front()->dtype, extents);
  if (result == nullptr) return nothing();
  const AxisView whole = axis_view(extents, *axis);
  std::size_t to = 0;
  for (std::int64_t block = 0; block < whole.outer && !result->elements.empty(); ++block) {
    for (const Content& part : parts) {
      const auto run = static_cast<std::size_t>(part->extents[*axis] * whole.inner);
      const auto from = part->elements.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(block) * run);
      std::copy_n(from, run, result->elements.begin() + static_cast<std::ptrdiff_t>(to));
      to += run;
    }
  }
  return single(result);
}

// One axis of a Slice: the position of its first element and the number of elements, clamped as ONNX defines.
struct SlicedAxis {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

SlicedAxis sliced_axis(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto counted = [&](std::int64_t index) { return index < 0 ? index + extent : index; };
  const std::int64_t lowest = step > 0 ? 0 : -1;
  const std::int64_t highest = step > 0 ? extent : extent - 1;
  if (extent == 0) return {};
  const std::int64_t begin = std::clamp<std::int64_t>(counted(start), 0, highest);
  const std::int64_t stop = std::clamp(counted(end), lowest, highest);
  const Int128 distance = step > 0 ? Int128{stop} - begin : Int128{begin} - stop;
  const Int128 stride = step > 0 ? Int128{step} : -Int128{step};
  return {begin, distance <= 0 ? 0 : static_cast<std::int64_t>((distance + stride - 1) / stride)};
}

Result<Contents> slice(const FoldNode& node) {
  const Content source = node.content(0);
  const ListSetting starts = node.list("starts", 1);
  const ListSetting ends = node.list("ends", 2);
  const ListSetting axes = node.list("axes", 3);
  const ListSetting steps = node.list("steps", 4);
  if (source == nullptr || !starts.values || !ends.values || starts.values->size() != ends.values->size())
    return nothing();
  if ((axes.is_given && !axes.values) || (steps.is_given && !steps.values)) return nothing();
  const std::size_t rank = source->extents.size();
  Extents all(starts.values->size());
  std::iota(all.begin(), all.end(), 0);
  const auto chosen = normal_axes(axes.values.value_or(all), rank);
  const Extents by = steps.values.value_or(Extents(all.size(), 1));
  if (!chosen || chosen->size() != all.size() || by.size() != all.size()) return nothing();

  Extents extents = source->extents;
  Extents strides = strides_of(extents);
  std::int64_t base = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t axis = (*chosen)[i];
    if (by[i] == 0) return Error{ErrorCode::invalid, "the Slice has a step of 0 on axis " + std::to_string(axis), ""};
    const SlicedAxis part = sliced_axis(source->extents[axis], (*starts.values)[i], (*ends.values)[i], by[i]);
    extents[axis] = part.count;
    if (source->elements.empty()) continue;
    base += part.begin * strides[axis];
    // With two elements or more, the step is shorter than the axis, so the product cannot overflow.
    strides[axis] = part.count > 1 ? strides[axis] * by[i] : 0;
  }
  return single(strided(*source, extents, strides, base));
}

// The lengths of the parts of a Split, or nullopt if unknown.
std::optional<Extents> split_sizes(const FoldNode& node, std::int64_t extent) {
  const ListSetting given = node.list("split", 1);
  const auto count = static_cast<std::int64_t>(node.request().output_count);
  if (given.is_given) {
    if (!given.values || static_cast<std::int64_t>(given.values->size()) != count) return std::nullopt;
    std::int64_t sum = 0;
    for (const std::int64_t part : *given.values) {
      if (part < 0 || part > extent - sum) return std::nullopt;
      sum += part;
    }
    return sum == extent ? given.values : std::nullopt;
  }
  if (count == 0) return std::nullopt;
  const std::int64_t part = extent / count + (extent % count == 0 ? 0 : 1);
  Extents sizes;
  for (std::int64_t i = 0, left = extent; i < count; ++i) {
    sizes.push_back(std::min(part, left));
    left -= sizes.back();
  }
  return sizes;
}

Result<Contents> split(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr) return nothing();
  const std::optional<std::size_t> axis = normal_axis(node.integer("axis", 0), source->extents.size());
  if (!axis) return nothing();
  const std::optional<Extents> sizes = split_sizes(node, source->extents[*axis]);
  if (!sizes) return nothing();
  const Extents strides = strides_of(source->extents);
  Contents result;
  std::int64_t base = 0;
  for (const std::int64_t part : *sizes) {
    Extents extents = source->extents;
    extents[*axis] = part;
    result.push_back(strided(*source, extents, strides, base));
    if (!source->elements.empty()) base += part * strides[*axis];
  }
  return result;
}

Result<Contents> squeeze(const FoldNode& node) {
  const Content source = node.content(0);
  const ListSetting axes = node.list("axes", 1);
  if (source == nullptr || (axes.is_given && !axes.values)) return nothing();
  std::vector<bool> is_dropped(source->extents.size(), false);
  if (axes.is_given) {
    const auto chosen = normal_axes(*axes.values, source->extents.size());
    if (!chosen) return nothing();
    for (const std::size_t axis : *chosen) is_dropped[axis] = true;
  }
  Extents extents;
  for (std::size_t axis = 0; axis < source->extents.size(); ++axis) {
    const bool is_one = source->extents[axis] == 1;
    if (axes.is_given ? !is_dropped[axis] : !is_one) extents.push_back(source->extents[axis]);
  }
  return single(reshaped(source, extents));
}

Result<Contents> unsqueeze(const FoldNode& node) {
  const Content source = node.content(0);
  const ListSetting axes = node.list("axes", 1);
  if (source == nullptr || !axes.values) return nothing();
  const std::size_t rank = source->extents.size() + axes.values->size();
  const auto chosen = normal_axes(*axes.values, rank);
  if (!chosen) return nothing();
  Extents extents(rank, 0);
  for (const std::size_t axis : *chosen) extents[axis] = 1;
  std::vector<bool> is_new(rank, false);
  for (const std::size_t axis : *chosen) is_new[axis] = true;
  for (std::size_t axis = 0, from = 0; axis < rank; ++axis) {
    if (!is_new[axis]) extents[axis] = source->extents[from++];
  }
  return single(reshaped(source, extents));
}

Result<Contents> reshape(const FoldNode& node) {
  const Content source = node.content(0);
  const ListSetting target = node.list("shape", 1);
  if (source == nullptr || !target.values) return nothing();
  Extents extents = *target.values;
  const bool zero_is_zero = node.integer("allowzero", 0) != 0;
  std::optional<std::size_t> open;
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] == -1) {
      if (open) return nothing();
      open = axis;
      continue;
    }
    if (extents[axis] == 0 && !zero_is_zero) {
      if (axis >= source->extents.size()) return nothing();
      extents[axis] = source->extents[axis];
    }
    const std::optional<std::int64_t> next = checked_multiply(product, extents[axis]);
    if (extents[axis] < 0 || !next) return nothing();
    product = *next;
  }
  if (open) {
    if (product == 0) return nothing();
    extents[*open] = static_cast<std::int64_t>(source->elements.size()) / product;
  }
  return single(reshaped(source, extents));
}

Result<Contents> flatten(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr) return nothing();
  const auto rank = static_cast<std::int64_t>(source->extents.size());
  std::int64_t axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank) return nothing();
  if (axis < 0) axis += rank;
  Extents extents = {1, 1};
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int64_t& product = extents[i < axis ? 0 : 1];
    product = checked_multiply(product, source->extents[static_cast<std::size_t>(i)]).value_or(-1);
  }
  return single(reshaped(source, extents));
}

Result<Contents> transpose(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr) return nothing();
  const std::size_t rank = source->extents.size();
  Extents backwards(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) backwards[axis] = static_cast<std::int64_t>(rank - 1 - axis);
  const Extents* given = node.integers("perm");
  const auto order = normal_axes(given == nullptr ? backwards : *given, rank);
  if (!order || order->size() != rank) return nothing();
  const Extents own = strides_of(source->extents);
  Extents extents;
  Extents strides;
  for (const std::size_t axis : *order) {
    extents.push_back(source->extents[axis]);
    strides.push_back(own[axis]);
  }
  return single(strided(*source, extents, strides, 0));
}

Result<Contents> expand(const FoldNode& node) {
  const Content source = node.content(0);
  const std::optional<Extents> target = node.exact_integers(1);
  if (source == nullptr || !target) return nothing();
  const std::optional<Extents> extents = broadcast(source->extents, *target);
  return extents ? single(broadcast_to(source, *extents)) : nothing();
}

// A Tile is a strided copy of extents [repeat0, extent0, repeat1, extent1, ...], with stride 0 for the repeats.
Result<Contents> tile(const FoldNode& node) {
  const Content source = node.content(0);
  const std::optional<Extents> repeats = node.exact_integers(1);
  if (source == nullptr || !repeats || repeats->size() != source->extents.size()) return nothing();
  if (2 * repeats->size() > static_cast<std::size_t>(limits::kMaxRank)) return nothing();
  const Extents own = strides_of(source->extents);
  Extents extents;
  Extents pairs;
  Extents strides;
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    const std::optional<std::int64_t> product = checked_multiply((*repeats)[axis], source->extents[axis]);
    if (!product) return nothing();
    extents.push_back(*product);
    pairs.insert(pairs.end(), {(*repeats)[axis], source->extents[axis]});
    strides.insert(strides.end(), {0, own[axis]});
  }
  const Content copied = strided(*source, pairs, strides, 0);
  return copied == nullptr ? nothing() : single(reshaped(copied, extents));
}

}  // namespace

std::span<const NamedRule> movement_rules() {
  static constexpr NamedRule kRules[] = {
      {"Identity", identity}, {"Shape", shape},     {"Size", size},           {"Concat", concat},
      {"Slice", slice},       {"Split", split},     {"Squeeze", squeeze},     {"Unsqueeze", unsqueeze},
      {"Reshape", reshape},   {"Flatten", flatten}, {"Transpose", transpose}, {"Expand", expand},
      {"Tile", tile},
  };
  return kRules;
}

}  // namespace lowtide::import_internal
