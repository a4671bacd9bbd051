// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/runtime/executable.h"
#include "lowtide/runtime/session.h"

namespace lowtide {

// The error of a run that failed. It names the operator and the node of the step, or the input. Requires: !result.ok().
[[nodiscard]] Error describe(const Executable& executable, const RunResult& result);

}  // namespace lowtide
