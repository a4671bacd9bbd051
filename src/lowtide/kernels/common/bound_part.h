// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/kernel.h"

// Kernels that are made of others call these functions on each part.
namespace lowtide::kernels_internal {

inline void rebind_part(BoundKernel& part) {
  if (part.rebind != nullptr) part.rebind(&part);
}

inline void destroy_part(BoundKernel& part) {
  if (part.destroy != nullptr) part.destroy(&part);
}

}  // namespace lowtide::kernels_internal
