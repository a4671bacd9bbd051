// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/plan/program.h"

namespace lowtide {

// The last step that needs each value, itself or through views of it; its own step if none does, and the first step for
// a value from before the run that none needs. O(steps + reads and writes).
[[nodiscard]] IdVector<ValueId, StepId> last_uses(const Program& program);

}  // namespace lowtide
