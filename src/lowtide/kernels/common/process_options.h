// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace lowtide::kernels_internal {

// KernelProcess, as it was last set.
[[nodiscard]] bool may_load_onednn();
[[nodiscard]] bool may_make_memory_files();
[[nodiscard]] bool keeps_runs_off_heap();

}  // namespace lowtide::kernels_internal
