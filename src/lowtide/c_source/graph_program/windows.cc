// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/graph_program/windows.h"

#include <algorithm>
#include <optional>
#include <string>

#include "lowtide/base/try.h"

namespace lowtide::graph_program_internal {
namespace {

// The lists of a node with one entry per spatial axis, or with two for pads.
struct Lists {
  Extents strides;
  Extents dilations;
  Extents pads;
  std::string auto_pad;
};

Result<Lists> lists_of(const NodeFacts& node, std::size_t axes) {
  Lists lists{.strides = node.integers("strides").value_or(Extents(axes, 1)),
              .dilations = node.integers("dilations").value_or(Extents(axes, 1)),
              .pads = node.integers("pads").value_or(Extents(2 * axes, 0)),
              .auto_pad = node.text("auto_pad", "NOTSET")};
  if (lists.auto_pad != "NOTSET") lists.pads = Extents(2 * axes, 0);
  const bool fits = lists.strides.size() == axes && lists.dilations.size() == axes && lists.pads.size() == 2 * axes;
  if (!fits) return missing("its lists do not have one entry per axis of the window");
  const auto is_positive = [](std::int64_t number) { return number > 0; };
  if (!std::ranges::all_of(lists.strides, is_positive) || !std::ranges::all_of(lists.dilations, is_positive)) {
    return missing("a stride or a dilation is not positive");
  }
  return lists;
}

// Divides padding between the begin and the end. SAME_LOWER has the odd one at the begin.
void divide(std::int64_t padding, bool is_lower, WindowAxis& axis) {
  padding = std::max<std::int64_t>(padding, 0);
  axis.begin = is_lower ? padding - padding / 2 : padding / 2;
  axis.end = padding - axis.begin;
}

Result<Window> read_window(const NodeFacts& node, const Extents& window) {
  const Extents& input = node.input_shape(0);
  const Extents& output = node.output_shape(0);
  const std::size_t axes = window.size();
  if (axes < 1 || axes > 2 || input.size() != axes + 2 || output.size() != axes + 2) {
    return missing("kernels of C have one or two spatial axes");
  }
  LOWTIDE_TRY(const Lists lists, lists_of(node, axes));
  Window result;
  for (std::size_t at = 0; at < axes; ++at) {
    result.axes[2 - axes + at] = {.input = input[at + 2],
                                  .output = output[at + 2],
                                  .window = window[at],
                                  .stride = lists.strides[at],
                                  .dilation = lists.dilations[at],
                                  .begin = lists.pads[at],
                                  .end = lists.pads[axes + at]};
  }
  return result;
}

}  // namespace

Result<Window> window_of(const NodeFacts& node, const Extents& window) {
  LOWTIDE_TRY(Window result, read_window(node, window));
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    for (WindowAxis& axis : result.axes) {
      const std::int64_t reach = (axis.output - 1) * axis.stride + (axis.window - 1) * axis.dilation + 1;
      divide(reach - axis.input, auto_pad == "SAME_LOWER", axis);
    }
  }
  return result;
}

Result<Window> transposed_window_of(const NodeFacts& node, const Extents& window) {
  LOWTIDE_TRY(Window result, read_window(node, window));
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!is_same && !node.integers("output_shape")) return result;
  const Extents added = node.integers("output_padding").value_or(Extents(window.size(), 0));
  for (std::size_t at = 0; at < added.size(); ++at) {
    WindowAxis& axis = result.axes[2 - window.size() + at];
    const std::int64_t reach = (axis.input - 1) * axis.stride + (axis.window - 1) * axis.dilation + 1 + added[at];
    divide(reach - axis.output, auto_pad != "SAME_UPPER", axis);
  }
  return result;
}

void add_window(const Window& window, Parameters& parameters) {
  const auto& [rows, columns] = window.axes;
  parameters.add("input_rows", rows.input)
      .add("input_columns", columns.input)
      .add("output_rows", rows.output)
      .add("output_columns", columns.output)
      .add("window_rows", rows.window)
      .add("window_columns", columns.window)
      .add("row_stride", rows.stride)
      .add("column_stride", columns.stride)
      .add("row_dilation", rows.dilation)
      .add("column_dilation", columns.dilation)
      .add("top", rows.begin)
      .add("left", columns.begin);
}

}  // namespace lowtide::graph_program_internal
