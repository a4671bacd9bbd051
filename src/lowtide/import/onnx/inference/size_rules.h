// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Sets extents that the library leaves unknown if the definition of the operator and the known inputs give a number
// or a proven upper bound. The rules by operator, where n is the number of elements of the input, or the extent of its
// axis:
//
//   NonZero             [rank, <= n]                     Unique    [<= n]
//   NonMaxSuppression   [<= batches x classes x min(max_output_boxes_per_class, boxes), 3]
//   Compress            [<= min(n, length of the condition, number of true elements)]
//   Slice               [<= ceil(n / step)] for a known step above 0, less if start or end is known; otherwise [<= n]
//   Split               each part <= n; <= ceil(n / parts) if the parts are equal
//   TopK                [<= min(k, n)]                   Range     by its start, limit and step
//   Reshape             symbols and bounds on both sides cancel; otherwise its -1 is <= n / the other known extents
//   Concat              the sum, also as a symbol such as "batch+1"
//   Tile, Pad, Resize   each axis whose repeats, pads, scale or size is known
//   LSTM, GRU, RNN      the hidden size from the recurrence weights
//   MaxUnpool, STFT     by a given shape; half of the frequencies
//   GatherND            the extents of the indices and of what they do not index
void apply_size_rules(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                      std::vector<TensorFact>& outputs);

}  // namespace lowtide::import_internal
