// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/kernels/plain/windows/sliding_window.h"

// Windows of operators that give more elements than they read.
namespace lowtide::kernels_internal {

// The attributes of a ConvTranspose. Lists are empty where the node has none.
struct TransposedAttributes {
  WindowAttributes window;
  std::vector<std::int64_t> output_padding;
  std::vector<std::int64_t> output_shape;  // the last numbers are those of the spatial axes
};
[[nodiscard]] TransposedAttributes transposed_attributes(const Node& node);

// Whether each list is absent or has one number per spatial axis, all of them in the range that the operator permits.
[[nodiscard]] bool has_axes(const TransposedAttributes& attributes, std::size_t spatial);

// The window of the convolution from the result of a ConvTranspose to its operand, along spatial axis `at`: `in` is the
// extent of the result, and `out` that of the operand. Returns nullopt if the padding takes away more than there is, or
// if the extent has no 64 bits. Requires: has_axes().
[[nodiscard]] std::optional<WindowAxis> transposed_axis(const TransposedAttributes& attributes, std::size_t spatial,
                                                        std::size_t at, std::int64_t extent, std::int64_t taps);

// The extent given by output_shape. nullopt: the node has none. Requires: has_axes().
[[nodiscard]] std::optional<std::int64_t> given_extent(const TransposedAttributes& attributes, std::size_t spatial,
                                                       std::size_t at);

// Whether a MaxUnpool has a kernel_shape, and lists as above.
[[nodiscard]] bool has_unpool_axes(const WindowAttributes& window, std::size_t spatial);

// The extent that the operand of a MaxPool had, from that of its result along spatial axis `at`. Returns nullopt as
// transposed_axis() does. Requires: has_unpool_axes().
[[nodiscard]] std::optional<std::int64_t> unpooled_extent(const WindowAttributes& window, std::size_t spatial,
                                                          std::size_t at, std::int64_t extent);

}  // namespace lowtide::kernels_internal
