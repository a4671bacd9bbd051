// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/import/onnx/inference/sized_node.h"

namespace lowtide::import_internal {

// Rules of apply_size_rules for operators whose output sizes depend on data.
void size_non_zero(const Sized& sized);
void size_non_max_suppression(const Sized& sized);
void size_unique(const Sized& sized);
void size_compress(const Sized& sized);
void size_top_k(const Sized& sized);

}  // namespace lowtide::import_internal
