// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Folds each Pad with zeros into the convolutions and pools after it, so that no padded copy is in memory:
//
//   y = Conv(Pad(x, pads), w, b)                       becomes     y = Conv(x, w, b) with more pads
//   y = AveragePool(Pad(x, pads))                      becomes     y = AveragePool(x) with more pads, which count
//
// A Pad is folded if all of this holds: its mode is "constant"; its value is 0 or omitted; its pads are known, none is
// negative, not all are 0, and those of batch and channels are 0; its result is not needed at the end; no node waits
// for it or for a reader, or one of them for a node; and each reader is
//   - a Conv of the standard that reads the padded tensor as its image alone, or
//   - an AveragePool without ceil_mode, whose own pads are 0, or count (count_include_pad);
// with explicit pads, which stay smaller than the window. Zeros that a convolution adds in another order may change a
// -0 to 0, or keep an infinite weight from giving NaN.
//
// `table` has the bytes of the model's constants; nullptr: a Pad with a value stays. Bodies stay as they are. Returns
// nullopt if nothing changes. Errors: those of GraphBuilder. O(edges).
[[nodiscard]] Result<std::optional<Rewritten>> fold_padding(const Graph& graph, const ConstantTable* table = nullptr);

}  // namespace lowtide
