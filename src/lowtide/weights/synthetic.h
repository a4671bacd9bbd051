// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"

namespace lowtide {

// Fills `out` with values that follow from a seed and from the name of a constant. Element i is scale * (2 u - 1),
// computed in double and rounded to its type, for f16 to f32 first. u is (splitmix64(seed ^ fnv1a(name) + i) >> 40) /
// 2^24, where fnv1a is the 64-bit hash of the name. The scale is sqrt(3 / n) for a rank of 2 or more, where n is the
// product of all extents except the first, and 0.1 otherwise. If the name ends in `var` or `variance`, or in `weight`
// with a rank below 2, the element is 0.5 + u. Integers and booleans are 0, which is a valid index.
// tests/tools/synthetic.py computes the same values.
// Requires: `out` has the size of the source and the alignment of its elements. Errors: (unsupported) an element type
// other than f64, f32, f16, the integers and boolean. O(elements).
[[nodiscard]] Result<void> fill_synthetic(const ConstantSource& source, std::uint64_t seed, std::span<std::byte> out);

}  // namespace lowtide
