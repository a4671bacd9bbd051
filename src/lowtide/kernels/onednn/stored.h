// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/kernels/onednn/description.h"

namespace lowtide::kernels_internal {

// Where ranges of a tensor lie in memory, from oneDNN's name of its order (tensor_in_order) alone.
//
//   order aBcd16b, extents [1, 40, 7, 7]: three blocks of 16 channels, one after another. Channels 32..39 begin after
//   2 x 7 x 7 x 16 elements. Channel 20 is in the middle of a block, and rows are not contiguous.

// The name of a dense row-major order: "abcd". Requires: 1 to 12 axes, the most that oneDNN has.
[[nodiscard]] std::string dense_order(std::size_t axes);

// How many neighbours along an axis form a block: 16 for axis 1 of aBcd16b, and 1 for its other axes.
[[nodiscard]] std::int64_t block_along(std::string_view order, std::size_t axis);

// The number of elements before those whose index along an axis is `begin` or more. Returns nullopt if elements after
// these have a smaller index, so that a range of the axis is not contiguous.
[[nodiscard]] std::optional<std::int64_t> elements_before(std::string_view order, const ExtentList& extents,
                                                          std::size_t axis, std::int64_t begin);

}  // namespace lowtide::kernels_internal
