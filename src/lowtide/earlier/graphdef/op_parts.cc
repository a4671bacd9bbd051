// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/earlier/graphdef/op_rules.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

std::ptrdiff_t offset_of(std::size_t index) { return static_cast<std::ptrdiff_t>(index); }

// Joins the inputs [first, end) along an axis that is another input.
void concat(NodeTypes& types, std::size_t axis_input, std::size_t first, std::size_t end) {
  const std::optional<std::int64_t> axis = types.number(axis_input);
  if (!axis || first >= end || types.extents(first) == nullptr) return;
  Extents y = *types.extents(first);
  const std::optional<std::size_t> at = index_of_axis(*axis, y.size());
  for (std::size_t input = first + 1; at && input < end; ++input) {
    const Extents* part = types.extents(input);
    if (part == nullptr || part->size() != y.size()) return;
    const std::optional<std::int64_t> sum = added_extents(y[*at], (*part)[*at]);
    if (!sum) return;
    y[*at] = *sum;
  }
  if (at) types.set(0, std::move(y));
}

// Adds the paddings, a matrix with the begin and the end of each axis, or takes them away.
void pad(NodeTypes& types, std::int64_t sign) {
  const Extents* x = types.extents(0);
  const Extents* paddings = types.values(1);
  if (x == nullptr || paddings == nullptr || paddings->size() != 2 * x->size()) return;
  Extents y = *x;
  for (std::size_t at = 0; at < paddings->size(); ++at) {
    const std::int64_t padding = (*paddings)[at];
    std::int64_t& extent = y[at / 2];
    if (padding < 0 || padding >= kMostArgument) return;
    if (extent == kOpen) continue;
    const std::optional<std::int64_t> padded = checked_add(extent, sign * padding);
    if (!padded || *padded < 0) return;
    extent = *padded;
  }
  types.set(0, std::move(y));
}

}  // namespace

void infer_concat(NodeTypes& types) {
  if (types.inputs.size() >= 2) concat(types, types.inputs.size() - 1, 0, types.inputs.size() - 1);
}

void infer_concat_first(NodeTypes& types) { concat(types, 0, 1, types.inputs.size()); }

// The axis, and behind it the value.
void infer_split(NodeTypes& types) {
  const std::optional<std::int64_t> axis = types.number(0);
  if (!axis || types.extents(1) == nullptr || types.outputs.empty()) return;
  Extents part = *types.extents(1);
  const std::optional<std::size_t> at = index_of_axis(*axis, part.size());
  const auto count = static_cast<std::int64_t>(types.outputs.size());
  if (!at || (part[*at] != kOpen && part[*at] % count != 0)) return;
  if (part[*at] != kOpen) part[*at] /= count;
  for (std::size_t output = 0; output < types.outputs.size(); ++output) types.set(output, part);
}

// The value, the extents of the parts along an axis, and the axis. One -1 is what is left.
void infer_split_sizes(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* sizes = types.values(1);
  const std::optional<std::int64_t> axis = types.number(2);
  if (x == nullptr || sizes == nullptr || !axis || sizes->size() != types.outputs.size()) return;
  const std::optional<std::size_t> at = index_of_axis(*axis, x->size());
  if (!at) return;
  std::optional<std::int64_t> rest = (*x)[*at];
  for (std::int64_t size : *sizes) {
    if (size < kOpen || size >= kMostArgument) return;
    if (size != kOpen && *rest != kOpen) rest = *rest - size;
    if (*rest < kOpen || (*rest < 0 && (*x)[*at] != kOpen)) return;
  }
  for (std::size_t output = 0; output < sizes->size(); ++output) {
    Extents part = *x;
    part[*at] = (*sizes)[output] == kOpen ? *rest : (*sizes)[output];
    types.set(output, std::move(part));
  }
}

void infer_pack(NodeTypes& types) {
  infer_add_n(types);
  if (types.outputs.empty() || !types.outputs[0].extents) return;
  Extents y = *std::exchange(types.outputs[0].extents, std::nullopt);
  const std::optional<std::size_t> at = index_of_axis(types.node.integer("axis", 0), y.size() + 1);
  if (!at) return;
  y.insert(y.begin() + offset_of(*at), static_cast<std::int64_t>(types.inputs.size()));
  types.set(0, std::move(y));
}

void infer_unpack(NodeTypes& types) {
  if (types.extents(0) == nullptr) return;
  Extents part = *types.extents(0);
  const std::optional<std::size_t> at = index_of_axis(types.node.integer("axis", 0), part.size());
  if (!at) return;
  part.erase(part.begin() + offset_of(*at));
  for (std::size_t output = 0; output < types.outputs.size(); ++output) types.set(output, part);
}

void infer_tile(NodeTypes& types) {
  const Extents* multiples = types.values(1);
  if (types.extents(0) == nullptr || multiples == nullptr) return;
  Extents y = *types.extents(0);
  if (multiples->size() != y.size()) return;
  for (std::size_t axis = 0; axis < y.size(); ++axis) {
    const std::int64_t multiple = (*multiples)[axis];
    const std::optional<std::int64_t> extent = multiplied_extents(y[axis], std::max<std::int64_t>(multiple, 0));
    if (multiple < 0 || !extent) return;
    y[axis] = *extent;
  }
  types.set(0, std::move(y));
}

void infer_pad(NodeTypes& types) { pad(types, 1); }

void infer_pad_grad(NodeTypes& types) { pad(types, -1); }

// Gather takes rows. GatherV2 has the axis as input 2, and may have batches before it, which are in both operands.
void infer_gather(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* indices = types.extents(1);
  const bool has_axis = types.inputs.size() > 2;
  const std::optional<std::int64_t> axis = has_axis ? types.number(2) : 0;
  if (x == nullptr || indices == nullptr || !axis) return;
  const std::optional<std::size_t> at = index_of_axis(*axis, x->size());
  std::int64_t batches = types.node.integer("batch_dims", 0);
  const auto rank = static_cast<std::int64_t>(indices->size());
  if (batches < 0 && batches >= -rank) batches += rank;
  if (!at || batches < 0 || batches > rank || batches > static_cast<std::int64_t>(*at)) return;
  Extents y(x->begin(), x->begin() + offset_of(*at));
  y.insert(y.end(), indices->begin() + batches, indices->end());
  y.insert(y.end(), x->begin() + offset_of(*at) + 1, x->end());
  types.set(0, std::move(y));
}

// The last axis of the indices is a place in x.
void infer_gather_nd(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* indices = types.extents(1);
  if (x == nullptr || indices == nullptr || indices->empty()) return;
  const std::int64_t depth = indices->back();
  if (depth < 0 || depth > static_cast<std::int64_t>(x->size())) return;
  Extents y(indices->begin(), indices->end() - 1);
  y.insert(y.end(), x->begin() + depth, x->end());
  types.set(0, std::move(y));
}

// Data, the segment of each row, and the number of segments.
void infer_segments(NodeTypes& types) {
  const Extents* data = types.extents(0);
  const Extents* ids = types.extents(1);
  const std::optional<std::int64_t> count = types.number(2);
  if (data == nullptr || ids == nullptr || !count || *count < 0 || ids->size() > data->size()) return;
  Extents y = {*count};
  y.insert(y.end(), data->begin() + offset_of(ids->size()), data->end());
  types.set(0, std::move(y));
}

void infer_one_hot(NodeTypes& types) {
  const std::optional<std::int64_t> depth = types.number(1);
  if (types.extents(0) == nullptr || !depth || *depth < 0) return;
  Extents y = *types.extents(0);
  const std::optional<std::size_t> at = index_of_axis(types.node.integer("axis", -1), y.size() + 1);
  if (!at) return;
  y.insert(y.begin() + offset_of(*at), *depth);
  types.set(0, std::move(y));
}

// The values, and where they were. TopK has k as an attribute.
void infer_top_k(NodeTypes& types) {
  if (types.outputs.size() > 1) types.outputs[1].dtype = types.node.dtype("index_type").value_or(DType::i32);
  const Extents* x = types.extents(0);
  const std::optional<std::int64_t> k = types.inputs.size() > 1 ? types.number(1) : types.node.integer("k", -1);
  if (x == nullptr || x->empty() || !k || *k < 0) return;
  Extents y = *x;
  y.back() = *k;
  types.set(1, y);
  types.set(0, std::move(y));
}

}  // namespace lowtide::graphdef_internal
