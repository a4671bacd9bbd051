// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/earlier/netdef/infer.h"
#include "lowtide/earlier/netdef/window_arguments.h"
#include "lowtide/graph/shape.h"

// Rules of operators that inference nets have beside layers.
namespace lowtide::netdef_internal {
namespace {

using Extents = std::vector<std::int64_t>;

constexpr std::int64_t kMostScaled = std::int64_t{1} << 31;

// The spatial axes of an image of rank 4, or 0: it is none.
std::size_t first_spatial(const OpTypes& types) {
  if (types.input(0) == nullptr || types.input(0)->extents.size() != 4) return 0;
  return types.op.text("order", "NCHW") == "NHWC" ? 1 : 2;
}

// Truncated, as Caffe2 computes it in f32.
std::optional<std::int64_t> scaled(std::int64_t extent, double scale) {
  const double product = static_cast<double>(static_cast<float>(extent) * static_cast<float>(scale));
  if (!(product >= 0) || product >= static_cast<double>(kMostScaled)) return std::nullopt;
  return static_cast<std::int64_t>(product);
}

}  // namespace

void infer_comparison(OpTypes& types) {
  infer_arithmetic(types);
  if (!types.outputs.empty() && types.outputs[0]) types.outputs[0]->dtype = DType::boolean;
}

void infer_power(OpTypes& types) {
  if (types.inputs.size() > 1) return infer_arithmetic(types);
  if (types.input(0) != nullptr) types.set_output(0, BlobType(*types.input(0)));
}

void infer_slice_of_net(OpTypes& types) {
  const BlobType* x = types.input(0);
  const auto starts = types.op.integers("starts");
  const auto ends = types.op.integers("ends");
  if (x == nullptr || !starts || !ends || types.inputs.size() > 1) return;
  BlobType y = *x;
  for (std::size_t axis = 0; axis < y.extents.size(); ++axis) {
    const std::int64_t extent = y.extents[axis];
    std::int64_t start = axis < starts->size() ? (*starts)[axis] : 0;
    std::int64_t end = axis < ends->size() ? (*ends)[axis] : -1;
    if (start < 0) start += extent + 1;
    if (end < 0) end += extent + 1;
    end = std::min(end, extent);
    if (start < 0 || start > extent || end < start) {
      types.fault = "it takes the elements from " + std::to_string(start) + " to " + std::to_string(end) +
                    " of an axis of " + std::to_string(extent);
      return;
    }
    y.extents[axis] = end - start;
  }
  types.set_output(0, std::move(y));
}

void infer_pad_image(OpTypes& types) {
  const std::size_t first = first_spatial(types);
  if (first == 0) return;
  BlobType y = *types.input(0);
  for (std::size_t at = 0; at < 2; ++at) {
    for (const bool at_end : {false, true}) {
      const auto sum = checked_add(y.extents[first + at], pad_of(types.op, at, 2, at_end));
      if (!sum || *sum < 0) return;
      y.extents[first + at] = *sum;
    }
  }
  types.set_output(0, std::move(y));
}

std::optional<ResizeScales> resize_scales(const OpView& op, const std::vector<float>* content) {
  if (op.inputs().size() > 1) {
    if (content == nullptr || content->size() != 2) return std::nullopt;
    return ResizeScales{.rows = content->front(), .columns = content->back()};
  }
  if (op.type() == "UpsampleNearest") return ResizeScales{.rows = op.real("scale", 2), .columns = op.real("scale", 2)};
  return ResizeScales{.rows = op.real("height_scale", 1), .columns = op.real("width_scale", 1)};
}

void infer_upsample(OpTypes& types) {
  const std::size_t first = first_spatial(types);
  const std::optional<ResizeScales> scales = resize_scales(types.op, types.content(1));
  if (first == 0 || !scales) return;
  BlobType y = *types.input(0);
  for (std::size_t at = 0; at < 2; ++at) {
    const auto extent = scaled(y.extents[first + at], at == 0 ? scales->rows : scales->columns);
    if (!extent) return;
    y.extents[first + at] = *extent;
  }
  types.set_output(0, std::move(y));
}

// NCHW2NHWC and NHWC2NCHW
void infer_order(OpTypes& types) {
  const BlobType* x = types.input(0);
  if (x == nullptr || x->extents.size() < 3) return;
  BlobType y = *x;
  if (types.op.type() == "NCHW2NHWC") {
    std::rotate(y.extents.begin() + 1, y.extents.begin() + 2, y.extents.end());
  } else {
    std::rotate(y.extents.begin() + 1, y.extents.end() - 1, y.extents.end());
  }
  types.set_output(0, std::move(y));
}

void infer_reduce_axes(OpTypes& types) {
  const BlobType* x = types.input(0);
  if (x == nullptr) return;
  const Extents axes = types.op.integers("axes").value_or(Extents());
  const bool keeps = types.op.integer("keepdims", 1) != 0;
  std::vector<bool> is_reduced(x->extents.size(), axes.empty());
  for (std::int64_t axis : axes) {
    const auto index = axis_of(axis, x->extents.size());
    if (!index) return;
    is_reduced[*index] = true;
  }
  BlobType y{x->dtype, {}};
  for (std::size_t axis = 0; axis < x->extents.size(); ++axis) {
    if (!is_reduced[axis]) y.extents.push_back(x->extents[axis]);
    if (is_reduced[axis] && keeps) y.extents.push_back(1);
  }
  types.set_output(0, std::move(y));
}

void infer_arg_axis(OpTypes& types) {
  const BlobType* x = types.input(0);
  const auto axis = x == nullptr ? std::nullopt : axis_of(types.op.integer("axis", -1), x->extents.size());
  if (!axis) return;
  BlobType y{DType::i64, x->extents};
  if (types.op.integer("keepdims", 1) != 0) {
    y.extents[*axis] = 1;
  } else {
    y.extents.erase(y.extents.begin() + static_cast<std::ptrdiff_t>(*axis));
  }
  types.set_output(0, std::move(y));
}

// The results have `k` elements along the axis, even if the input has fewer.
void infer_top_elements(OpTypes& types) {
  const BlobType* x = types.input(0);
  const auto axis = x == nullptr ? std::nullopt : axis_of(types.op.integer("axis", -1), x->extents.size());
  const std::int64_t count = types.op.integer("k", 0);
  if (!axis || count < 1 || types.inputs.size() > 1) return;
  BlobType y = *x;
  y.extents[*axis] = count;
  types.set_output(1, DType::i64, Extents(y.extents));
  types.set_output(0, std::move(y));
}

// The rows of input 0, or its parts along another axis, that input 1 lists.
void infer_gathered(OpTypes& types) {
  const BlobType* x = types.input(0);
  const BlobType* indices = types.input(1);
  if (x == nullptr || indices == nullptr) return;
  const auto axis = axis_of(types.op.integer("axis", 0), x->extents.size());
  if (!axis) return;
  const auto at = static_cast<std::ptrdiff_t>(*axis);
  BlobType y{x->dtype, Extents(x->extents.begin(), x->extents.begin() + at)};
  y.extents.insert(y.extents.end(), indices->extents.begin(), indices->extents.end());
  y.extents.insert(y.extents.end(), x->extents.begin() + at + 1, x->extents.end());
  types.set_output(0, std::move(y));
}

void infer_tiles(OpTypes& types) {
  const BlobType* x = types.input(0);
  const auto axis = x == nullptr ? std::nullopt : axis_of(types.op.integer("axis", 0), x->extents.size());
  if (!axis || types.inputs.size() > 1) return;
  const auto extent = checked_multiply(x->extents[*axis], types.op.integer("tiles", 1));
  if (!extent || *extent < 0) return;
  BlobType y = *x;
  y.extents[*axis] = *extent;
  types.set_output(0, std::move(y));
}

void infer_shape_list(OpTypes& types) {
  const BlobType* x = types.input(0);
  if (x == nullptr) return;
  const std::size_t listed = types.op.integers("axes").value_or(Extents()).size();
  types.set_output(0, DType::i64, {static_cast<std::int64_t>(listed > 0 ? listed : x->extents.size())});
}

void infer_vector(OpTypes& types) {
  const BlobType* x = types.input(0);
  const auto elements = x == nullptr ? std::nullopt : product_of(x->extents, 0, x->extents.size());
  if (elements) types.set_output(0, x->dtype, {*elements});
}

}  // namespace lowtide::netdef_internal
