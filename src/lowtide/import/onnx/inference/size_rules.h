// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Fills in extents that the library leaves unknown, where the operator's definition and what is known of its inputs
// give a number or a proven upper bound. Never touches an extent that is exact. By operator, n being the elements, or
// the extent of the axis, of the input:
//
//   NonZero             [rank, <= n]                     Unique    [<= n]
//   NonMaxSuppression   [<= batches x classes x min(max_output_boxes_per_class, boxes), 3]
//   Compress            [<= min(n, length of the condition, trues in it)]
//   Slice               [<= ceil(n / |step|)], tighter where start and end are known and not counted from the end
//   Split               each part <= n; <= ceil(n / parts) where they are equal
//   TopK                [<= min(k, n)]                   Range     by its start, limit and step
//   Reshape             its own symbols and bounds cancelled on both sides; else its -1 is <= n / the known others
//   Tile, Pad, Resize, Expand, ConstantOfShape           each axis of which the content is known
//   LSTM, GRU, RNN      hidden size from the recurrence weights
void apply_size_rules(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                      std::vector<TensorFact>& outputs);

}  // namespace lowtide::import_internal
