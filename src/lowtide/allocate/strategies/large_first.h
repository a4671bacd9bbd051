// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>

#include "lowtide/allocate/strategies/strategy.h"

namespace lowtide::allocate_internal {

// For problems with very different sizes, as real networks have them: a few hundred tensors of megabytes, and a
// thousand scalars that live long. A search treats them all alike, and one scalar in the wrong place costs a megabyte.
//
//   target --------------         The large buffers alone, with all other strategies. Then the small ones around them:
//     |AAA|CCCCCC| BBBB |         the large ones stay where they are, and leave all bytes that are free at the busiest
//     |AAA|CCCCCC+------+         moment in one gap at the bottom. The small buffers of that moment go there.
//     +---+------+  s   |
//   0 +----s-----+------+
//
// Which buffers are small? The threshold is the largest size such that the buffers below it hold at most a 64th of the
// target at any moment; later turns try a 16th and a 256th. Nothing is tried if fewer than an eighth of the buffers are
// small, or where pairs of buffers are in conflict by name.
[[nodiscard]] std::unique_ptr<Strategy> make_large_first(StrategyContext& context, std::span<const StrategyRow> rows);

}  // namespace lowtide::allocate_internal
