// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lowtide::kernels_internal {

// The quotient of a number from 0 on and a positive one, rounded up.
[[nodiscard]] inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b == 0 ? 0 : 1); }

}  // namespace lowtide::kernels_internal
