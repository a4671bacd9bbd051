// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lowtide/graph/dtype.h"

namespace lowtide::kernels_internal {

// Combines `count` elements with those at `to`, one after another: to[i] = operation(to[i], from[i]).
using Combine = void (*)(const std::byte* from, std::byte* to, std::int64_t count);

// The operation of the attribute `reduction` of scattering operators: add, mul, min, max. f16 is rounded after each
// element, integers wrap around. Returns nullptr if there is none for the name or the type.
[[nodiscard]] Combine combine_of(std::string_view reduction, DType dtype);

}  // namespace lowtide::kernels_internal
