// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/base/checked.h"
#include "lowtide/import/onnx/fold/fold_node.h"

// Rules of operators whose inputs give the positions of the elements that they read or write. If a position is unknown,
// so is the element read from it. If an element is written at an unknown position, nothing is known of the result.
namespace lowtide::import_internal {
namespace {

// Returns the position of an index on an axis, or nullopt if the index is not exact or is outside.
std::optional<std::int64_t> position_of(const KnownElement& index, std::int64_t extent) {
  if (index.knowledge != Knowledge::exact || index.integer < -extent || index.integer >= extent) return std::nullopt;
  return index.integer < 0 ? index.integer + extent : index.integer;
}

Result<Contents> gather(const FoldNode& node) {
  const Content source = node.content(0);
  const Content indices = node.content(1);
  if (source == nullptr || indices == nullptr || !is_integer(indices->dtype)) return nothing();
  const std::optional<std::size_t> axis = normal_axis(node.integer("axis", 0), source->extents.size());
  if (!axis) return nothing();
  const auto split = source->extents.begin() + static_cast<std::ptrdiff_t>(*axis);
  Extents extents(source->extents.begin(), split);
  extents.insert(extents.end(), indices->extents.begin(), indices->extents.end());
  extents.insert(extents.end(), split + 1, source->extents.end());
  std::shared_ptr<KnownContent> result = blank(source->dtype, extents);
  if (result == nullptr || result->elements.empty()) return single(result);
  const AxisView view = axis_view(source->extents, *axis);
  const AxisView to = {view.outer, static_cast<std::int64_t>(indices->elements.size()), view.inner};
  for (std::int64_t block = 0; block < to.outer; ++block) {
    for (std::int64_t i = 0; i < to.extent; ++i) {
      const auto from = position_of(indices->elements[static_cast<std::size_t>(i)], view.extent);
      if (!from) continue;
      for (std::int64_t within = 0; within < to.inner; ++within) {
        result->elements[to.at(block, i, within)] = source->elements[view.at(block, *from, within)];
      }
    }
  }
  return single(result);
}

// The index of an element of a row-major tensor: one number per axis.
Extents index_of(std::int64_t position, const Extents& extents) {
  Extents index(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    index[axis] = position % extents[axis];
    position /= extents[axis];
  }
  return index;
}

std::int64_t position_at(const Extents& index, const Extents& strides) {
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) position += index[axis] * strides[axis];
  return position;
}

// Returns where GatherElements reads and ScatterElements writes for element `at` of `indices`, or nullopt if
// unknown.
std::optional<std::size_t> aligned_position(const KnownContent& data, const KnownContent& indices, std::size_t at,
                                            std::size_t axis) {
  Extents index = index_of(static_cast<std::int64_t>(at), indices.extents);
  const auto along = position_of(indices.elements[at], data.extents[axis]);
  if (!along) return std::nullopt;
  index[axis] = *along;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] >= data.extents[i]) return std::nullopt;
  }
  return static_cast<std::size_t>(position_at(index, strides_of(data.extents)));
}

Result<Contents> gather_elements(const FoldNode& node) {
  const Content source = node.content(0);
  const Content indices = node.content(1);
  if (source == nullptr || indices == nullptr || !is_integer(indices->dtype)) return nothing();
  const std::optional<std::size_t> axis = normal_axis(node.integer("axis", 0), source->extents.size());
  if (!axis || indices->extents.size() != source->extents.size()) return nothing();
  std::shared_ptr<KnownContent> result = blank(source->dtype, indices->extents);
  if (result == nullptr) return nothing();
  for (std::size_t at = 0; at < result->elements.size(); ++at) {
    if (const auto from = aligned_position(*source, *indices, at, *axis))
      result->elements[at] = source->elements[*from];
  }
  return single(result);
}

Result<Contents> scatter_elements(const FoldNode& node) {
  const Content data = node.content_or_unknown(0);
  const Content indices = node.content(1);
  const Content updates = node.content_or_unknown(2);
  if (data == nullptr || indices == nullptr || updates == nullptr || data->dtype != updates->dtype) return nothing();
  const std::optional<std::size_t> axis = normal_axis(node.integer("axis", 0), data->extents.size());
  if (!axis || !is_integer(indices->dtype) || indices->extents != updates->extents ||
      indices->extents.size() != data->extents.size() || node.text("reduction", "none") != "none") {
    return nothing();
  }
  auto result = std::make_shared<KnownContent>(*data);
  for (std::size_t at = 0; at < indices->elements.size(); ++at) {
    const auto to = aligned_position(*data, *indices, at, *axis);
    if (!to) return nothing();
    result->elements[*to] = updates->elements[at];
  }
  return single(result);
}

// GatherND and ScatterND read rows of `indices`. Each row refers to a block of `block` consecutive elements of the
// data.
struct RowReader {
  const KnownContent& data;
  const KnownContent& indices;
  std::size_t batch_rank;
  std::size_t depth;  // numbers in a row
  Extents strides;
  std::int64_t block = 1;

  [[nodiscard]] std::optional<std::size_t> position(std::int64_t row, std::int64_t rows_a_batch) const {
    std::int64_t at = 0;
    Extents batch_extents(data.extents.begin(), data.extents.begin() + static_cast<std::ptrdiff_t>(batch_rank));
    const Extents batch = index_of(row / rows_a_batch, batch_extents);
    for (std::size_t i = 0; i < batch_rank; ++i) at += batch[i] * strides[i];
    for (std::size_t i = 0; i < depth; ++i) {
      const KnownElement& number = indices.elements[static_cast<std::size_t>(row) * depth + i];
      const auto along = position_of(number, data.extents[batch_rank + i]);
      if (!along) return std::nullopt;
      at += *along * strides[batch_rank + i];
    }
    return static_cast<std::size_t>(at);
  }
};

std::optional<RowReader> row_reader(const KnownContent& data, const KnownContent& indices, std::int64_t batch_dims) {
  if (!is_integer(indices.dtype) || indices.extents.empty() || indices.elements.empty() || data.elements.empty() ||
      batch_dims < 0 || batch_dims >= static_cast<std::int64_t>(indices.extents.size())) {
    return std::nullopt;
  }
  const auto batch_rank = static_cast<std::size_t>(batch_dims);
  const auto depth = static_cast<std::size_t>(indices.extents.back());
  if (batch_rank + depth > data.extents.size()) return std::nullopt;
  if (!std::equal(indices.extents.begin(), indices.extents.begin() + batch_dims, data.extents.begin())) {
    return std::nullopt;
  }
  RowReader reader{data, indices, batch_rank, depth, strides_of(data.extents)};
  for (std::size_t i = batch_rank + depth; i < data.extents.size(); ++i) reader.block *= data.extents[i];
  return reader;
}

Result<Contents> gather_nd(const FoldNode& node) {
  const Content data = node.content(0);
  const Content indices = node.content(1);
  if (data == nullptr || indices == nullptr) return nothing();
  const auto reader = row_reader(*data, *indices, node.integer("batch_dims", 0));
  if (!reader) return nothing();
  Extents extents(indices->extents.begin(), indices->extents.end() - 1);
  const std::int64_t rows = folded_count(extents).value_or(0);
  const std::int64_t batches =
      folded_count(Extents(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(reader->batch_rank)))
          .value_or(1);
  extents.insert(extents.end(), data->extents.begin() + static_cast<std::ptrdiff_t>(reader->batch_rank + reader->depth),
                 data->extents.end());
  std::shared_ptr<KnownContent> result = blank(data->dtype, extents);
  if (result == nullptr || result->elements.empty()) return single(result);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto from = reader->position(row, rows / batches);
    if (!from) continue;
    std::copy_n(data->elements.begin() + static_cast<std::ptrdiff_t>(*from), reader->block,
                result->elements.begin() + row * reader->block);
  }
  return single(result);
}

Result<Contents> scatter_nd(const FoldNode& node) {
  const Content data = node.content_or_unknown(0);
  const Content indices = node.content(1);
  const Content updates = node.content_or_unknown(2);
  if (data == nullptr || indices == nullptr || updates == nullptr || data->dtype != updates->dtype) return nothing();
  if (node.text("reduction", "none") != "none") return nothing();
  const auto reader = row_reader(*data, *indices, 0);
  if (!reader) return nothing();
  const std::int64_t rows = folded_count(Extents(indices->extents.begin(), indices->extents.end() - 1)).value_or(0);
  const std::optional<std::int64_t> written = checked_multiply(rows, reader->block);
  if (!written || static_cast<std::size_t>(*written) != updates->elements.size()) return nothing();
  auto result = std::make_shared<KnownContent>(*data);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto to = reader->position(row, rows);
    if (!to) return nothing();
    std::copy_n(updates->elements.begin() + row * reader->block, reader->block,
                result->elements.begin() + static_cast<std::ptrdiff_t>(*to));
  }
  return single(result);
}

Result<Contents> compress(const FoldNode& node) {
  Content source = node.content(0);
  const std::optional<Extents> condition = node.exact_integers(1);
  if (source == nullptr || !condition) return nothing();
  std::size_t axis = 0;
  Extents extents = source->extents;
  const auto* given = find_attribute<std::int64_t>(node.request().attributes, "axis");
  if (given == nullptr) {
    extents = {static_cast<std::int64_t>(source->elements.size())};
  } else {
    const std::optional<std::size_t> normal = normal_axis(*given, extents.size());
    if (!normal) return nothing();
    axis = *normal;
  }
  const AxisView view = axis_view(extents, axis);
  Extents kept;
  for (std::size_t i = 0; i < condition->size(); ++i) {
    if ((*condition)[i] == 0) continue;
    if (static_cast<std::int64_t>(i) >= view.extent) return nothing();
    kept.push_back(static_cast<std::int64_t>(i));
  }
  extents[axis] = static_cast<std::int64_t>(kept.size());
  std::shared_ptr<KnownContent> result = blank(source->dtype, extents);
  if (result == nullptr || result->elements.empty()) return single(result);
  const AxisView to = axis_view(extents, axis);
  for (std::int64_t block = 0; block < to.outer; ++block) {
    for (std::int64_t i = 0; i < to.extent; ++i) {
      for (std::int64_t within = 0; within < to.inner; ++within) {
        result->elements[to.at(block, i, within)] =
            source->elements[view.at(block, kept[static_cast<std::size_t>(i)], within)];
      }
    }
  }
  return single(result);
}

Result<Contents> trilu(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr || source->extents.size() < 2) return nothing();
  std::int64_t diagonal = 0;
  if (node.has_input(1)) {
    const std::optional<std::int64_t> k = node.exact_scalar(1);
    if (!k) return nothing();
    diagonal = *k;
  }
  const bool keeps_upper = node.integer("upper", 1) != 0;
  const std::int64_t columns = source->extents.back();
  const std::int64_t rows = source->extents[source->extents.size() - 2];
  auto result = std::make_shared<KnownContent>(*source);
  for (std::size_t at = 0; at < result->elements.size(); ++at) {
    const auto position = static_cast<std::int64_t>(at);
    const std::int64_t row = position / columns % rows;
    const Int128 above = Int128{position % columns} - row - diagonal;
    if (keeps_upper ? above < 0 : above > 0) result->elements[at] = exact_integer(0);
  }
  return single(result);
}

// The padding of each axis before its first and after its last element; nullopt if unknown.
struct Padding {
  Extents before;
  Extents after;
};

// More than any folded tensor has. Sums of such numbers do not overflow.
constexpr std::int64_t kMostPadding = std::int64_t{1} << 40;

std::optional<Padding> padding_of(const FoldNode& node, std::size_t rank) {
  const ListSetting pads = node.list("pads", 1);
  if (!pads.values) return std::nullopt;
  std::vector<std::size_t> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = i;
  if (node.has_input(3)) {
    const std::optional<Extents> given = node.exact_integers(3);
    if (!given) return std::nullopt;
    const auto chosen = normal_axes(*given, rank);
    if (!chosen) return std::nullopt;
    axes = *chosen;
  }
  if (pads.values->size() != 2 * axes.size()) return std::nullopt;
  for (const std::int64_t number : *pads.values) {
    if (number < -kMostPadding || number > kMostPadding) return std::nullopt;
  }
  Padding padding{Extents(rank, 0), Extents(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    padding.before[axes[i]] = (*pads.values)[i];
    padding.after[axes[i]] = (*pads.values)[axes.size() + i];
  }
  return padding;
}

// Returns the position in the source that Pad reads for position `at`, or nullopt for the constant.
std::optional<std::int64_t> padded_from(std::string_view mode, std::int64_t at, std::int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, extent - 1);
  if (mode == "wrap") return ((at % extent) + extent) % extent;
  if (mode == "reflect" && extent > 1) {
    const std::int64_t period = 2 * (extent - 1);
    const std::int64_t in_period = ((at % period) + period) % period;
    return in_period < extent ? in_period : period - in_period;
  }
  if (mode == "reflect") return 0;
  return std::nullopt;
}

Result<Contents> pad(const FoldNode& node) {
  const Content source = node.content(0);
  const std::string_view mode = node.text("mode", "constant");
  if (source == nullptr) return nothing();
  const std::optional<Padding> padding = padding_of(node, source->extents.size());
  if (!padding || (source->elements.empty() && mode != "constant")) return nothing();
  KnownElement constant = exact_integer(0);
  if (node.has_input(2)) {
    const Content given = node.content_or_unknown(2);
    if (given == nullptr || given->elements.size() != 1) return nothing();
    constant = given->elements[0];
  } else if (const auto* value = find_attribute<double>(node.request().attributes, "value")) {
    if (!is_float(source->dtype)) return nothing();
    constant = exact_real(rounded(source->dtype, *value));
  }
  Extents extents;
  for (std::size_t axis = 0; axis < source->extents.size(); ++axis) {
    const auto first = checked_add(source->extents[axis], padding->before[axis]);
    const auto sum = first ? checked_add(*first, padding->after[axis]) : std::nullopt;
    if (!sum) return nothing();
    extents.push_back(*sum);
  }
  std::shared_ptr<KnownContent> result = blank(source->dtype, extents);
  if (result == nullptr) return nothing();
  const Extents strides = strides_of(source->extents);
  for (std::size_t at = 0; at < result->elements.size(); ++at) {
    Extents index = index_of(static_cast<std::int64_t>(at), extents);
    bool is_inside = true;
    for (std::size_t axis = 0; axis < index.size() && is_inside; ++axis) {
      const auto from = padded_from(mode, index[axis] - padding->before[axis], source->extents[axis]);
      is_inside = from.has_value();
      index[axis] = from.value_or(0);
    }
    result->elements[at] =
        is_inside ? source->elements[static_cast<std::size_t>(position_at(index, strides))] : constant;
  }
  return single(result);
}

}  // namespace

std::span<const NamedRule> indexing_rules() {
  static constexpr NamedRule kRules[] = {
      {"Gather", gather},
      {"GatherElements", gather_elements},
      {"ScatterElements", scatter_elements},
      {"GatherND", gather_nd},
      {"Scatter", scatter_elements},
      {"ScatterND", scatter_nd},
      {"Compress", compress},
      {"Trilu", trilu},
      {"Pad", pad},
  };
  return kRules;
}

}  // namespace lowtide::import_internal
