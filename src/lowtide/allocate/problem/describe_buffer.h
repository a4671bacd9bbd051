// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// The name of a buffer in messages: "buffer 'conv1'", or "buffer 12" if the problem has no names.
[[nodiscard]] std::string describe_buffer(const PackingProblem& problem, PackingId buffer);

}  // namespace lowtide::allocate_internal
