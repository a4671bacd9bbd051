// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/graph/shape.h"
#include "lowtide/graphdef/op_rules.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::int64_t kMostArgument = std::int64_t{1} << 31;

std::optional<std::size_t> index_of_axis(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::optional<std::int64_t> product(const Extents& extents) {
  std::int64_t all = 1;
  for (std::int64_t extent : extents) {
    const std::optional<std::int64_t> next = checked_multiply(all, extent);
    if (!next) return std::nullopt;
    all = *next;
  }
  return all;
}

bool is_open(const Extents& extents) { return std::find(extents.begin(), extents.end(), kOpen) != extents.end(); }

// What two extents of one axis become when they are broadcast; nullopt: they do not fit. An open extent may be 1.
std::optional<std::int64_t> broadcast_extent(std::int64_t a, std::int64_t b) {
  if (a == kOpen || b == kOpen) return std::max(a, b) > 1 ? std::max(a, b) : kOpen;
  if (a != b && a != 1 && b != 1) return std::nullopt;
  return a == 1 ? b : a;
}

std::optional<Extents> open_broadcast(Extents a, Extents b) {
  if (a.size() < b.size()) std::swap(a, b);
  const std::size_t shift = a.size() - b.size();
  for (std::size_t axis = 0; axis < b.size(); ++axis) {
    const std::optional<std::int64_t> extent = broadcast_extent(a[axis + shift], b[axis]);
    if (!extent) return std::nullopt;
    a[axis + shift] = *extent;
  }
  return a;
}

// The axes of an image by data_format: channels last unless it is NCHW.
struct ImageAxes {
  std::size_t channel = 3;
  std::size_t height = 1;
};

std::optional<ImageAxes> image_axes(const NodeTypes& types) {
  if (types.extents(0) == nullptr || types.extents(0)->size() != 4) return std::nullopt;
  const std::string_view format = types.node.text("data_format", "NHWC");
  if (format == "NHWC") return ImageAxes{};
  return format == "NCHW" ? std::optional(ImageAxes{1, 2}) : std::nullopt;
}

// One spatial extent behind a window; nullopt, with a fault, if the window does not fit.
std::optional<std::int64_t> windowed(NodeTypes& types, std::int64_t extent, std::int64_t kernel, std::size_t axis) {
  const auto at = [&](const char* name, std::int64_t otherwise) {
    const Extents all = types.node.integers(name);
    return axis < all.size() ? all[axis] : otherwise;
  };
  const std::int64_t stride = at("strides", 1);
  const std::int64_t dilation = at("dilations", 1);
  const std::string_view padding = types.node.text("padding", "");
  if (extent == kOpen || kernel == kOpen) return kOpen;
  const auto is_small = [](std::int64_t value) { return value >= 1 && value < kMostArgument; };
  if (!is_small(stride) || !is_small(dilation) || !is_small(kernel) || extent < 0 || extent >= kMostArgument) {
    types.fault = "kernel " + std::to_string(kernel) + ", stride " + std::to_string(stride) + " or dilation " +
                  std::to_string(dilation) + " of a spatial axis is out of range";
    return std::nullopt;
  }
  if (padding == "SAME") return (extent + stride - 1) / stride;
  if (padding != "VALID") return std::nullopt;  // EXPLICIT
  const std::int64_t free = extent - ((kernel - 1) * dilation + 1);
  if (free >= 0) return free / stride + 1;
  types.fault =
      "a window of " + std::to_string(kernel) + " does not fit into the spatial extent " + std::to_string(extent);
  return std::nullopt;
}

void set_image(NodeTypes& types, const ImageAxes& axes, std::int64_t channels, const Extents& kernel) {
  Extents y = *types.extents(0);
  y[axes.channel] = channels;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::size_t at = axes.height + axis;
    const std::optional<std::int64_t> extent = windowed(types, y[at], kernel[axis], at);
    if (!extent) return;
    y[at] = *extent;
  }
  types.set(0, std::move(y));
}

}  // namespace

void infer_broadcast(NodeTypes& types) {
  if (types.extents(0) == nullptr || types.extents(1) == nullptr) return;
  const bool has_open = is_open(*types.extents(0)) || is_open(*types.extents(1));
  std::optional<Extents> extents = has_open ? open_broadcast(*types.extents(0), *types.extents(1))
                                            : broadcast_extents(*types.extents(0), *types.extents(1));
  if (extents) return types.set(0, *std::move(extents));
  types.fault = "the inputs with the shapes " + to_string(Shape(*types.extents(0))) + " and " +
                to_string(Shape(*types.extents(1))) + " do not fit together";
}

void infer_mat_mul(NodeTypes& types) {
  const Extents* a = types.extents(0);
  const Extents* b = types.extents(1);
  if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) return;
  const std::size_t row = types.node.is_set("transpose_a") ? 1 : 0;
  const std::size_t column = types.node.is_set("transpose_b") ? 0 : 1;
  const bool is_unknown = (*a)[1 - row] == kOpen || (*b)[1 - column] == kOpen;
  if (!is_unknown && (*a)[1 - row] != (*b)[1 - column]) {
    types.fault = "the rows of the first matrix have " + std::to_string((*a)[1 - row]) +
                  " elements, but the columns of the second have " + std::to_string((*b)[1 - column]);
    return;
  }
  types.set(0, {(*a)[row], (*b)[column]});
}

void infer_batch_mat_mul(NodeTypes& types) {
  const Extents* a = types.extents(0);
  const Extents* b = types.extents(1);
  if (a == nullptr || b == nullptr || a->size() < 2 || a->size() != b->size()) return;
  if (!std::equal(a->begin(), a->end() - 2, b->begin())) return;
  const std::size_t rank = a->size();
  Extents y = *a;
  y[rank - 2] = (*a)[types.node.is_set("adj_x") ? rank - 1 : rank - 2];
  y[rank - 1] = (*b)[types.node.is_set("adj_y") ? rank - 2 : rank - 1];
  types.set(0, std::move(y));
}

// x, filter [height, width, in, out]
void infer_conv(NodeTypes& types) {
  const std::optional<ImageAxes> axes = image_axes(types);
  const Extents* filter = types.extents(1);
  if (axes && filter != nullptr && filter->size() == 4) set_image(types, *axes, (*filter)[3], *filter);
}

// x, filter [height, width, in, multiplier]
void infer_depthwise(NodeTypes& types) {
  const std::optional<ImageAxes> axes = image_axes(types);
  const Extents* filter = types.extents(1);
  if (!axes || filter == nullptr || filter->size() != 4) return;
  const bool has_open = (*filter)[2] == kOpen || (*filter)[3] == kOpen;
  const std::optional<std::int64_t> channels =
      has_open ? std::optional(kOpen) : checked_multiply((*filter)[2], (*filter)[3]);
  if (channels) set_image(types, *axes, *channels, *filter);
}

void infer_pool(NodeTypes& types) {
  const std::optional<ImageAxes> axes = image_axes(types);
  const Extents kernel = types.node.integers("ksize");
  if (!axes || kernel.size() != 4) return;
  set_image(types, *axes, (*types.extents(0))[axes->channel], {kernel[axes->height], kernel[axes->height + 1]});
}

// One -1 is what is left.
void infer_reshape(NodeTypes& types) {
  if (types.extents(0) == nullptr || types.content(1) == nullptr) return;
  Extents shape = *types.content(1);
  if (is_open(*types.extents(0))) return types.set(0, std::move(shape));  // its -1 is an open extent
  const std::optional<std::int64_t> elements = product(*types.extents(0));
  const auto open = std::find(shape.begin(), shape.end(), kOpen);
  const bool has_open = open != shape.end();
  if (has_open) *open = 1;
  const std::optional<std::int64_t> known = product(shape);
  if (!elements || !known || *known < 0) return;
  if (has_open && *known > 0 && *elements % *known == 0) {
    *open = *elements / *known;
  } else if (has_open || *known != *elements) {
    types.fault = std::to_string(*elements) + " elements cannot have the given shape with " + std::to_string(*known);
    return;
  }
  types.set(0, std::move(shape));
}

void infer_transpose(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* axes = types.content(1);
  if (x == nullptr || axes == nullptr || axes->size() != x->size()) return;
  Extents y;
  for (std::int64_t axis : *axes) {
    const std::optional<std::size_t> at = index_of_axis(axis, x->size());
    if (!at) return;
    y.push_back((*x)[*at]);
  }
  types.set(0, std::move(y));
}

// Values, and behind them the axis.
void infer_concat(NodeTypes& types) {
  if (types.inputs.size() < 2) return;
  const std::size_t last = types.inputs.size() - 1;
  const Extents* axis = types.content(last);
  if (axis == nullptr || axis->size() != 1 || types.extents(0) == nullptr) return;
  Extents y = *types.extents(0);
  const std::optional<std::size_t> at = index_of_axis(axis->front(), y.size());
  for (std::size_t input = 1; at && input < last; ++input) {
    const Extents* part = types.extents(input);
    if (part == nullptr || part->size() != y.size()) return;
    const bool has_open = y[*at] == kOpen || (*part)[*at] == kOpen;
    const std::optional<std::int64_t> sum = has_open ? std::optional(kOpen) : checked_add(y[*at], (*part)[*at]);
    if (!sum) return;
    y[*at] = *sum;
  }
  if (at) types.set(0, std::move(y));
}

// The axis, and behind it the value.
void infer_split(NodeTypes& types) {
  const Extents* axis = types.content(0);
  if (axis == nullptr || axis->size() != 1 || types.extents(1) == nullptr || types.outputs.empty()) return;
  Extents part = *types.extents(1);
  const std::optional<std::size_t> at = index_of_axis(axis->front(), part.size());
  const auto count = static_cast<std::int64_t>(types.outputs.size());
  if (!at || (part[*at] != kOpen && part[*at] % count != 0)) return;
  if (part[*at] != kOpen) part[*at] /= count;
  for (std::size_t output = 0; output < types.outputs.size(); ++output) types.set(output, part);
}

void infer_reduce(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* axes = types.content(1);
  if (x == nullptr || axes == nullptr) return;
  std::vector<bool> is_reduced(x->size(), false);
  for (std::int64_t axis : *axes) {
    const std::optional<std::size_t> at = index_of_axis(axis, x->size());
    if (!at) return;
    is_reduced[*at] = true;
  }
  const bool keeps = types.node.is_set("keep_dims");
  Extents y;
  for (std::size_t at = 0; at < x->size(); ++at) {
    if (!is_reduced[at]) y.push_back((*x)[at]);
    if (is_reduced[at] && keeps) y.push_back(1);
  }
  types.set(0, std::move(y));
}

void infer_expand_dims(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* axis = types.content(1);
  if (x == nullptr || axis == nullptr || axis->size() != 1) return;
  const std::optional<std::size_t> at = index_of_axis(axis->front(), x->size() + 1);
  if (!at) return;
  Extents y = *x;
  y.insert(y.begin() + static_cast<std::ptrdiff_t>(*at), 1);
  types.set(0, std::move(y));
}

void infer_squeeze(NodeTypes& types) {
  const Extents* x = types.extents(0);
  if (x == nullptr) return;
  const Extents dims = types.node.integers("squeeze_dims");
  std::vector<bool> is_left_out(x->size(), false);
  for (std::int64_t dim : dims) {
    const std::optional<std::size_t> at = index_of_axis(dim, x->size());
    if (!at || ((*x)[*at] != 1 && (*x)[*at] != kOpen)) return;
    is_left_out[*at] = true;
  }
  if (dims.empty() && is_open(*x)) return;  // so that the rank is not known
  Extents y;
  for (std::size_t at = 0; at < x->size(); ++at) {
    if (dims.empty() ? (*x)[at] != 1 : !is_left_out[at]) y.push_back((*x)[at]);
  }
  types.set(0, std::move(y));
}

// The paddings are a matrix of constants, whose numbers are not looked up, so the shape must come from elsewhere.
void infer_pad(NodeTypes& /*types*/) {}

void infer_fill(NodeTypes& types) {
  const Extents* dims = types.content(0);
  if (dims == nullptr || std::any_of(dims->begin(), dims->end(), [](std::int64_t one) { return one < 0; })) return;
  types.set(0, *dims);
}

}  // namespace lowtide::graphdef_internal
