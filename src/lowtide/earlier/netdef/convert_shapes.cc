// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/earlier/netdef/infer.h"
#include "lowtide/earlier/netdef/op_conversion.h"
#include "lowtide/earlier/netdef/window_arguments.h"

namespace lowtide::netdef_internal {
namespace {

using Extents = std::vector<std::int64_t>;

// An axis of a tensor of `rank` axes. nullopt, with a fault: there is no such axis.
std::optional<std::size_t> checked_axis(OpConversion& op, std::int64_t axis, std::size_t rank) {
  const std::optional<std::size_t> index = axis_of(axis, rank);
  if (!index) op.fault = "it has no axis " + std::to_string(axis);
  return index;
}

// axis_of_parts(), with a fault if there is no such axis.
std::optional<std::size_t> checked_axis_of_parts(OpConversion& op, std::size_t rank) {
  const std::optional<std::size_t> index = axis_of_parts(op.op, rank);
  if (!index) op.fault = "its inputs do not have the axis on which the parts are";
  return index;
}

// Result `at`, a list of integers that is known.
void write_list(OpConversion& op, std::size_t at, const Extents& list) {
  if (op.results.size() <= at || op.results[at].empty()) return;
  const std::string known = op.to.list_of(op.outputs[at].dtype, list);
  op.to.add({.type = "Identity", .inputs = {known}, .outputs = {op.results[at]}});
}

// The row of an image of `given` rows that is nearest to each of `made` rows.
Extents nearest_rows(std::int64_t given, std::int64_t made, double scale) {
  Extents rows;
  for (std::int64_t at = 0; at < made; ++at) {
    const float row = static_cast<float>(at) / static_cast<float>(scale);
    const bool is_inside = row < static_cast<float>(given);  // not for NaN, which no integer is
    rows.push_back(is_inside ? static_cast<std::int64_t>(std::max(row, 0.0F)) : given - 1);
  }
  return rows;
}

}  // namespace

// Reshape, Flatten, FlattenToVec, Squeeze and ExpandDims. Result 1 is the old shape.
void convert_to_shape(OpConversion& op) {
  op.write_reshaped(op.operands[0]);
  write_list(op, 1, op.shape(0));
}

void convert_transpose_op(OpConversion& op) {
  const auto rank = static_cast<std::int64_t>(op.shape(0).size());
  Extents axes = op.op.integers("axes").value_or(Extents());
  if (op.op.type() != "Transpose") {
    axes = {0};
    for (std::int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
    axes.insert(op.op.type() == "NCHW2NHWC" ? axes.end() : axes.begin() + 1,
                op.op.type() == "NCHW2NHWC" ? 1 : rank - 1);
    if (op.op.type() == "NHWC2NCHW") {
      for (std::size_t at = 2; at < axes.size(); ++at) axes[at] = static_cast<std::int64_t>(at) - 1;
    }
  }
  if (axes.empty()) {
    for (std::int64_t axis = rank; axis > 0; --axis) axes.push_back(axis - 1);
  }
  op.write("Transpose", {op.operands[0]}, {{"perm", axes}});
}

void convert_concat_op(OpConversion& op) {
  const bool adds = op.op.integer("add_axis", 0) != 0;
  const std::optional<std::size_t> axis = checked_axis_of_parts(op, op.shape(0).size() + (adds ? 1 : 0));
  if (!axis) return;
  const auto joined = static_cast<std::int64_t>(*axis);
  std::vector<std::string> parts;
  Extents sizes;
  for (std::size_t at = 0; at < op.operands.size(); ++at) {
    if (op.shape(at).size() != op.shape(0).size()) {
      op.fault = "its inputs have different numbers of axes";
      return;
    }
    parts.push_back(adds ? op.make("Unsqueeze", {op.operands[at], op.to.integers({joined})}) : op.operands[at]);
    sizes.push_back(adds ? 1 : op.shape(at)[*axis]);
  }
  op.write("Concat", parts, {{"axis", joined}});
  write_list(op, 1, sizes);
}

void convert_split_op(OpConversion& op) {
  const std::optional<std::size_t> axis = checked_axis_of_parts(op, op.shape(0).size());
  if (!axis) return;
  if (op.operands.size() > 1) {
    op.fault = "the sizes of its parts are a blob; give them with the argument 'split'";
    return;
  }
  Extents sizes;
  for (const BlobType& part : op.outputs) {
    if (part.extents.size() != op.shape(0).size()) {
      op.fault = "the sizes of its parts are not known";
      return;
    }
    sizes.push_back(part.extents[*axis]);
  }
  std::vector<std::string> results;
  for (const std::string& result : op.results) {
    results.push_back(result.empty() ? op.to.fresh(op.operands[0] + "/part") : result);
  }
  op.to.add({.type = "Split",
             .inputs = {op.operands[0], op.to.integers(sizes)},
             .outputs = results,
             .attributes = {{"axis", static_cast<std::int64_t>(*axis)}}});
}

// A negative end counts from behind the last element: -1 is the end.
void convert_slice_op(OpConversion& op) {
  const auto starts = op.op.integers("starts");
  const Extents& x = op.shape(0);
  if (!starts || op.operands.size() > 1) {
    op.fault = "its begins and ends are blobs; give them with the arguments 'starts' and 'ends'";
    return;
  }
  if (!op.keeps_rank(0)) return;
  Extents begins;
  Extents ends;
  Extents axes;
  for (std::size_t axis = 0; axis < x.size(); ++axis) {
    const std::int64_t start = axis < starts->size() ? (*starts)[axis] : 0;
    begins.push_back(start < 0 ? x[axis] + 1 + start : start);
    ends.push_back(begins.back() + op.result_shape()[axis]);
    axes.push_back(static_cast<std::int64_t>(axis));
  }
  op.write("Slice", {op.operands[0], op.to.integers(begins), op.to.integers(ends), op.to.integers(axes)});
}

void convert_pad_image(OpConversion& op) {
  if (op.shape(0).size() != 4) {
    op.fault = "its input is no image";
    return;
  }
  const std::string mode(op.op.text("mode", "constant"));
  if (mode != "constant" && mode != "reflect" && mode != "edge") {
    op.fault = "its mode is not known";
    return;
  }
  const std::size_t first = op.is_last() ? 1 : 2;
  Extents pads(8, 0);
  for (std::size_t at = 0; at < 2; ++at) {
    pads[first + at] = pad_of(op.op, at, 2, false);
    pads[4 + first + at] = pad_of(op.op, at, 2, true);
  }
  std::vector<std::string> from = {op.operands[0], op.to.integers(pads)};
  if (mode == "constant") from.push_back(op.number("value", 0, op.dtype()));
  op.write("Pad", from, {{"mode", mode}});
}

// UpsampleNearest, ResizeNearest and UpsampleBilinear.
void convert_resize_op(OpConversion& op) {
  const bool has_content = op.contents.size() > 1 && op.contents[1];
  const std::optional<ResizeScales> scales = resize_scales(op.op, has_content ? &*op.contents[1] : nullptr);
  if (!scales) {
    op.fault =
        "its scales are a blob that no GivenTensorFill fills with two reals; give them with the arguments "
        "'height_scale' and 'width_scale'";
    return;
  }
  // An argument that is no number has a fault.
  for (std::string_view argument : {"scale", "height_scale", "width_scale"}) (void)op.real(argument, 1);
  if (!op.fault.empty()) return;
  const Extents x = op.is_last() ? extents_in_first(op.shape(0)) : op.shape(0);
  const Extents y = op.is_last() ? extents_in_first(op.result_shape()) : op.result_shape();
  if (x.size() != 4 || y.size() != 4 || std::ranges::find(x, 0) != x.end() || std::ranges::find(y, 0) != y.end()) {
    op.fault = "its input or its output is no image with elements";
    return;
  }
  if (op.op.type() == "UpsampleBilinear") {
    return op.write_image({.type = "Resize",
                           .inputs = {op.image(), "", "", op.to.integers(y)},
                           .outputs = {},
                           .attributes = {{"mode", std::string("linear")},
                                          {"coordinate_transformation_mode", std::string("align_corners")}}});
  }
  if (op.op.type() == "UpsampleNearest") {
    return op.write_image({.type = "Resize",
                           .inputs = {op.image(), "", "", op.to.integers(y)},
                           .outputs = {},
                           .attributes = {{"mode", std::string("nearest")},
                                          {"coordinate_transformation_mode", std::string("asymmetric")},
                                          {"nearest_mode", std::string("floor")}}});
  }
  if (!op.to.may_make(y[2]) || !op.to.may_make(y[3])) {
    op.fault = "it needs lists of " + std::to_string(y[2]) + " and " + std::to_string(y[3]) +
               " numbers, and all lists that are not in the net may have " + std::to_string(kMostMadeBytes) + " bytes";
    return;
  }
  const Extents rows = nearest_rows(x[2], y[2], scales->rows);
  const Extents columns = nearest_rows(x[3], y[3], scales->columns);
  const std::string of_x = op.make("Gather", {op.image(), op.to.integers(rows)}, {{"axis", std::int64_t{2}}});
  op.write_image({.type = "Gather",
                  .inputs = {of_x, op.to.integers(columns)},
                  .outputs = {},
                  .attributes = {{"axis", std::int64_t{3}}}});
}

// The channels as a matrix of `group` rows, transposed.
void convert_channel_shuffle(OpConversion& op) {
  const Extents& x = op.shape(0);
  const std::int64_t group = op.op.integer("group", 1);
  const std::size_t channel = op.is_last() ? x.size() - 1 : 1;
  if (x.size() < 2 || group < 1 || x[channel] % group != 0) {
    op.fault = "its channels are no whole number of groups";
    return;
  }
  Extents split(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(channel));
  split.insert(split.end(), {group, x[channel] / group});
  split.insert(split.end(), x.begin() + static_cast<std::ptrdiff_t>(channel) + 1, x.end());
  Extents axes;
  for (std::size_t axis = 0; axis < split.size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  std::swap(axes[channel], axes[channel + 1]);
  op.write_reshaped(op.make("Transpose", {op.reshaped(op.operands[0], split)}, {{"perm", axes}}));
}

void convert_tile_op(OpConversion& op) {
  const auto axis = checked_axis(op, op.op.integer("axis", 0), op.shape(0).size());
  if (!axis || op.operands.size() > 1) {
    if (axis) op.fault = "the number of its copies is a blob; give it with the argument 'tiles'";
    return;
  }
  Extents repeats(op.shape(0).size(), 1);
  repeats[*axis] = op.op.integer("tiles", 1);
  op.write("Tile", {op.operands[0], op.to.integers(repeats)});
}

void convert_gather_op(OpConversion& op) {
  if (op.operands.size() < 2) {
    op.fault = "it has no indices";
    return;
  }
  op.write("Gather", {op.operands[0], op.operands[1]}, {{"axis", op.op.integer("axis", 0)}});
}

void convert_shape_op(OpConversion& op) {
  const Extents axes = op.op.integers("axes").value_or(Extents());
  Extents list = axes.empty() ? op.shape(0) : Extents();
  for (std::int64_t one : axes) {
    const auto axis = checked_axis(op, one, op.shape(0).size());
    if (!axis) return;
    list.push_back(op.shape(0)[*axis]);
  }
  write_list(op, 0, list);
}

void convert_reduce(OpConversion& op) {
  Extents axes = op.op.integers("axes").value_or(Extents());
  if (axes.empty()) {
    for (std::size_t axis = 0; axis < op.shape(0).size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  }
  op.write(std::string(op.op.type()), {op.operands[0], op.to.integers(axes)},
           {{"keepdims", op.op.integer("keepdims", 1)}});
}

void convert_arg_op(OpConversion& op) {
  op.write(std::string(op.op.type()), {op.operands[0]},
           {{"axis", op.op.integer("axis", -1)}, {"keepdims", op.op.integer("keepdims", 1)}});
}

// If there are fewer than `k` elements, the values end with 0, and their indices with -1.
void convert_top_k_op(OpConversion& op) {
  const auto axis = checked_axis(op, op.op.integer("axis", -1), op.shape(0).size());
  const std::int64_t count = op.op.integer("k", 0);
  if (op.results.size() > 2) op.fault = "its third result, indices of the flattened input, has no conversion";
  if (op.operands.size() > 1) op.fault = "its number of elements is a blob; give it with the argument 'k'";
  if (count < 1) op.fault = "its argument 'k' is " + std::to_string(count) + ", and must be 1 or more";
  if (!op.fault.empty()) return;
  const std::int64_t given = op.shape(0)[*axis];
  std::vector<std::string> results = op.results;
  if (results.size() < 2) results.push_back(op.to.fresh(results[0] + "/indices"));
  std::vector<std::string> found = results;
  if (count > given) {
    for (std::string& result : found) result = op.to.fresh(result + "/found");
  }
  op.to.add({.type = "TopK",
             .inputs = {op.operands[0], op.to.integers({std::min(count, given)})},
             .outputs = found,
             .attributes = {{"axis", static_cast<std::int64_t>(*axis)}}});
  if (count <= given) return;
  Extents pads(2 * op.shape(0).size(), 0);
  pads[op.shape(0).size() + *axis] = count - given;
  const std::vector<std::string> fills = {op.to.number(op.dtype(), 0), op.to.number(DType::i64, -1)};
  for (std::size_t at = 0; at < 2; ++at) {
    op.to.add({.type = "Pad", .inputs = {found[at], op.to.integers(pads), fills[at]}, .outputs = {results[at]}});
  }
}

}  // namespace lowtide::netdef_internal
