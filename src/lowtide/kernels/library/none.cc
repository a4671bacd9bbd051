// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// A build with lowtide_WITH_ONEDNN=OFF has this file instead of the others of its folder.

#include "lowtide/kernels/library/library.h"

namespace lowtide::kernels_internal {

LibraryKey library_key() { return {.isa = "any", .version = "none"}; }

}  // namespace lowtide::kernels_internal
