// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// A build with lowtide_WITH_ONEDNN=OFF has this file instead of the others of its folder.

#include "lowtide/kernels/initialize.h"
#include "lowtide/kernels/onednn/onednn.h"

namespace lowtide::kernels_internal {

OnednnKey onednn_key() { return {.isa = "any", .version = "none"}; }

bool has_onednn() { return false; }

void quiet_loaded_onednn() {}

std::span<const Family> onednn_families() { return {}; }

Format onednn_blocks() { return Format::plain; }

std::shared_ptr<const KernelFormats> onednn_formats() { return nullptr; }

}  // namespace lowtide::kernels_internal

namespace lowtide {

void initialize_kernels() {}

void prepare_kernel_thread() {}

void release_kernel_caches() {}

OnednnMemory onednn_memory() { return {}; }

}  // namespace lowtide
