// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace lowtide::runtime_internal {

// Does what kernels need once per thread, and touches the stack of the calling thread.
void touch_thread();

}  // namespace lowtide::runtime_internal
