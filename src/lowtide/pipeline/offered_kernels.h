// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/target/target.h"
#include "lowtide/verify/check_kernels.h"

namespace lowtide {

// The kernels of a target in the verifier's own terms. The target must outlive the result.
[[nodiscard]] OfferedKernels offered_kernels(const Target& target);

}  // namespace lowtide
