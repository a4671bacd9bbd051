// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>

#include "lowtide/allocate/strategies/strategy.h"

namespace lowtide::allocate_internal {

// For problems with sizes of very different magnitudes, as in real networks: a few hundred tensors of megabytes, and a
// thousand scalars that live long. A search treats them all alike, and one scalar at a wrong offset costs a megabyte.
//
//   target --------------         All other strategies pack the large buffers alone. Then the small ones are packed
//     |AAA|CCCCCC| BBBB |         around them. The large ones are pushed up together, so that all bytes that are free
//     |AAA|CCCCCC+------+         at the busiest moment are in one range at the bottom. The small buffers of that
//     +---+------+  s   |         moment go there.
//   0 +----s-----+------+
//
// Small buffers are those below a threshold: the largest size such that smaller buffers hold at most a 64th of the
// target at any moment. Later runs try a 16th and a 256th. Nothing is tried if fewer than an eighth of the buffers are
// small, or if a relation replaces time.
[[nodiscard]] std::unique_ptr<Strategy> make_large_first(StrategyContext& context, std::span<const StrategyRow> rows);

}  // namespace lowtide::allocate_internal
