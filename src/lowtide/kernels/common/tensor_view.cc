// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/tensor_view.h"

#include <algorithm>

namespace lowtide::kernels_internal {

RunStatus copy_extents(const BoundTensor& from, const BoundTensor& to) {
  const std::span<const std::int64_t> extents = extents_of(from);
  if (!to.is_dynamic) {
    const bool is_equal = std::ranges::equal(extents, extents_of(to));
    return {is_equal ? RunCode::ok : RunCode::bad_extents, 0};
  }
  const std::int64_t bits = count_of(from) * bits_of(to.dtype).value_or(8);
  if ((bits + 7) / 8 > to.capacity_bytes) return {RunCode::size_exceeds_plan, 0};
  std::copy(extents.begin(), extents.end(), to.extents);
  return {};
}

}  // namespace lowtide::kernels_internal
