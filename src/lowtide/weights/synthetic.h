// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"

namespace lowtide::weights_internal {

// Fills `out` with the synthetic values of a constant (ModelWeights). Requires: `out` has the size of the source and
// the alignment of its elements. Errors: (unsupported) the element type.
[[nodiscard]] Result<void> fill_synthetic(const ConstantSource& source, std::uint64_t seed, std::span<std::byte> out);

}  // namespace lowtide::weights_internal
