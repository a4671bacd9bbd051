// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lowtide/c_source/graph_program/node_calls.h"

namespace lowtide::graph_program_internal {

// One of the two axes along which a window slides over an image.
struct WindowAxis {
  std::int64_t input = 1;
  std::int64_t output = 1;
  std::int64_t window = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t begin = 0;  // padding before the input
  std::int64_t end = 0;    // and after it
};

// The rows and the columns of an image. An image with one axis has one row.
struct Window {
  std::array<WindowAxis, 2> axes;
};

// The window of a node whose input 0 and output 0 are [N, C, columns] or [N, C, rows, columns], with the attributes
// strides, dilations, pads and auto_pad. `window` has the spatial extents. Errors: other ranks, or lists of other
// lengths.
[[nodiscard]] Result<Window> window_of(const NodeFacts& node, const Extents& window);

// The same for a transposed convolution, which pads its output.
[[nodiscard]] Result<Window> transposed_window_of(const NodeFacts& node, const Extents& window);

// Adds the parameters that all kernels with windows have, from input_rows to left.
void add_window(const Window& window, Parameters& parameters);

}  // namespace lowtide::graph_program_internal
