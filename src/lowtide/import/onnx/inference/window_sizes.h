// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/inference/sized_node.h"

namespace lowtide::import_internal {

// Sets the spatial extents of convolutions and pools. They differ from those of the library in four cases:
//
//   A window that exceeds its padded operand has no result. The library rounds the quotient towards 0:
//     1 element, windows of 3 with stride 3: (1 - 3) / 3 is rounded down to -1, so there are 0 results and not 1.
//   With ceil_mode, a last window that would begin in the padding at the end is left out:
//     5 elements, pads [1, 2], windows of 3 with stride 2: they begin at -1, 1, 3 and, rounded up, 5. Element 5 is
//     padding, so there are 3 results and not 4. The specification says so since opset 22, and so does the library.
//     Runtimes do it for all opsets.
//   A transposed convolution with auto_pad SAME has one stride per element of its operand, or less if its windows do
//   not reach as far. The library adds the output_padding:
//     5 elements, windows of 3 with stride 2 and an output_padding of 1: 5 * 2 = 10 results and not 11.
//   A transposed convolution with an output_shape has these extents. The library gives a lower rank if one of them is
//   less than that of the operand.
//
// With ceil_mode, a window that exceeds its operand by less than a stride has one result, as for all runtimes. Errors
// (invalid): the number of results would be below 0.
[[nodiscard]] Result<void> size_windows(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                                        std::vector<TensorFact>& outputs);

}  // namespace lowtide::import_internal
