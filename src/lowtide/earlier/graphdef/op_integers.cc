// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Rules of operators whose results are lists of integers that depend on lists of integers, such as shapes.

#include <algorithm>
#include <set>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/earlier/graphdef/op_rules.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::int64_t kMostRange = 4'096;

// The shape of a row for DynamicStitch, whose data have the shape of their indices, and behind it that of a row.
std::optional<Extents> row_of_stitch(const Extents& indices, const Extents& data) {
  if (data.size() < indices.size() || !std::equal(indices.begin(), indices.end(), data.begin())) return std::nullopt;
  return Extents(data.begin() + static_cast<std::ptrdiff_t>(indices.size()), data.end());
}

// The rows of the second half of the inputs at their indices. nullopt: a row is unknown, or has no index.
std::optional<Extents> stitched_rows(const NodeTypes& types, std::size_t rows, std::size_t of_row) {
  Extents stitched(rows * of_row, 0);
  std::vector<bool> is_set(rows, false);
  const std::size_t count = types.inputs.size() / 2;
  for (std::size_t at = 0; at < count; ++at) {
    const Extents* indices = types.values(at);
    const Extents* data = types.values(count + at);
    if (indices == nullptr || data == nullptr || data->size() != indices->size() * of_row) return std::nullopt;
    for (std::size_t one = 0; one < indices->size(); ++one) {
      const auto row = static_cast<std::size_t>((*indices)[one]);
      std::copy_n(data->begin() + static_cast<std::ptrdiff_t>(one * of_row), of_row,
                  stitched.begin() + static_cast<std::ptrdiff_t>(row * of_row));
      is_set[row] = true;
    }
  }
  return std::ranges::find(is_set, false) == is_set.end() ? std::optional(stitched) : std::nullopt;
}

// The extent of an axis that counts from the last one; 1 beyond the first.
std::int64_t extent_from_end(const Extents& extents, std::size_t from_end) {
  return from_end < extents.size() ? extents[extents.size() - 1 - from_end] : 1;
}

}  // namespace

// Infers the results of Shape and ShapeN. infer_values sets the content.
void infer_shape(NodeTypes& types) {
  for (std::size_t at = 0; at < types.outputs.size(); ++at) {
    if (types.extents(at) != nullptr) types.set(at, {static_cast<std::int64_t>(types.extents(at)->size())});
  }
}

// Begin, end and step of integers.
void infer_range(NodeTypes& types) {
  const std::optional<std::int64_t> begin = types.number(0);
  const std::optional<std::int64_t> end = types.number(1);
  const std::optional<std::int64_t> step = types.number(2);
  if (!begin || !end || !step || *step == 0) return;
  const std::optional<std::int64_t> length = checked_subtract(*end, *begin);
  if (!length || *length >= kMostArgument || *length <= -kMostArgument) return;
  if (*length != 0 && (*length > 0) != (*step > 0)) return;
  types.set(0, {*length / *step + (*length % *step == 0 ? 0 : 1)});
}

// The axis, and the shapes of the operands of a Concat: where each of them begins.
void infer_concat_offset(NodeTypes& types) {
  for (std::size_t at = 0; at < types.outputs.size(); ++at) {
    if (types.extents(at + 1) != nullptr) types.set(at, *types.extents(at + 1));
  }
  const std::optional<std::int64_t> axis = types.number(0);
  std::int64_t sum = 0;
  for (std::size_t at = 0; axis && at < types.outputs.size(); ++at) {
    const Extents* shape = types.values(at + 1);
    const std::optional<std::size_t> along = shape == nullptr ? std::nullopt : index_of_axis(*axis, shape->size());
    if (!along) return;
    Extents offset(shape->size(), 0);
    offset[*along] = sum;
    const std::optional<std::int64_t> next = checked_add(sum, (*shape)[*along]);
    if (!next) return;
    sum = *next;
    types.set_list(at, std::move(offset));
  }
}

// N lists of indices, and N of rows: a later row replaces an earlier one with the same index. TensorFlow leaves rows
// without an index undefined.
void infer_dynamic_stitch(NodeTypes& types) {
  const std::size_t count = types.inputs.size() / 2;
  std::optional<Extents> row;
  std::int64_t last = -1;
  for (std::size_t at = 0; at < count; ++at) {
    const Extents* indices = types.values(at);
    if (indices == nullptr) return;
    for (std::int64_t index : *indices) {
      if (index < 0 || index >= kMostRange) return;
      last = std::max(last, index);
    }
    if (!row && types.extents(count + at) != nullptr) {
      row = row_of_stitch(*types.extents(at), *types.extents(count + at));
    }
  }
  if (!row) return;
  const std::optional<std::int64_t> of_row = product(*row);
  row->insert(row->begin(), last + 1);
  const std::optional<std::int64_t> elements = product(*row);
  types.set(0, *std::move(row));
  if (elements && *elements >= 0 && *elements <= kMostRange && of_row && *of_row >= 0 && !types.outputs.empty()) {
    types.outputs[0].content =
        stitched_rows(types, static_cast<std::size_t>(last + 1), static_cast<std::size_t>(*of_row));
  }
}

// The shapes of two operands that were broadcast: over which axes the gradient of each is summed. Operands of one
// shape need no sum. Otherwise TensorFlow sums over axes in which both operands are 1, too.
void infer_broadcast_gradient(NodeTypes& types) {
  const Extents* a = types.values(0);
  const Extents* b = types.values(1);
  if (a == nullptr || b == nullptr) return;
  const std::size_t rank = std::max(a->size(), b->size());
  Extents of_a;
  Extents of_b;
  for (std::size_t axis = 0; axis < rank && *a != *b; ++axis) {
    const std::int64_t extent_a = extent_from_end(*a, rank - 1 - axis);
    const std::int64_t extent_b = extent_from_end(*b, rank - 1 - axis);
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1) return;
    if (extent_a == 1) of_a.push_back(static_cast<std::int64_t>(axis));
    if (extent_b == 1) of_b.push_back(static_cast<std::int64_t>(axis));
  }
  types.set_list(0, std::move(of_a));
  types.set_list(1, std::move(of_b));
}

// The elements of the first list that are not in the second, and where they were.
void infer_list_difference(NodeTypes& types) {
  if (types.outputs.size() > 1) types.outputs[1].dtype = types.node.dtype("out_idx").value_or(DType::i32);
  const Extents* x = types.values(0);
  const Extents* without = types.values(1);
  if (x == nullptr || without == nullptr) return;
  const std::set<std::int64_t> removed(without->begin(), without->end());
  Extents kept;
  Extents places;
  for (std::size_t at = 0; at < x->size(); ++at) {
    if (removed.contains((*x)[at])) continue;
    kept.push_back((*x)[at]);
    places.push_back(static_cast<std::int64_t>(at));
  }
  types.set_list(0, std::move(kept));
  types.set_list(1, std::move(places));
}

}  // namespace lowtide::graphdef_internal
