// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/families.h"

#include <array>

#include "lowtide/kernels/plain/elementwise.h"
#include "lowtide/kernels/plain/movement.h"

namespace lowtide::kernels_internal {

std::span<const Family> families() {
  static const std::array all{
      unary_family(),
      binary_family(),
      select_family(),
      cast_family(),
      reshape_family(),
      movement_family(),
      slice_family(),
      generate_family(),
  };
  return all;
}

}  // namespace lowtide::kernels_internal
