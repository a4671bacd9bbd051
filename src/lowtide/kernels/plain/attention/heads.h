// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/kernels/common/extents.h"

namespace lowtide::kernels_internal {

// A tensor of f32 as heads of rows: [batches, heads, rows, width], or flat as [batches, rows, heads * width].
struct Heads {
  float* begin = nullptr;
  std::int64_t batches = 0;
  std::int64_t heads = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  bool is_flat = false;

  [[nodiscard]] float* row(std::int64_t batch, std::int64_t head, std::int64_t at) const {
    const std::int64_t row = is_flat ? (batch * rows + at) * heads + head : (batch * heads + head) * rows + at;
    return begin + row * width;
  }
};

// `heads` is the number of heads of a flat tensor. Returns nullopt if the extents do not permit it.
[[nodiscard]] inline std::optional<Heads> heads_of(const BoundTensor& tensor, std::int64_t heads) {
  const Extents extents(extents_of(tensor));
  auto* begin = mutable_elements<float>(tensor);
  if (extents.rank() == 4) return Heads{begin, extents[0], extents[1], extents[2], extents[3], false};
  if (extents.rank() != 3 || heads < 1 || extents[2] % heads != 0) return std::nullopt;
  return Heads{begin, extents[0], heads, extents[1], extents[2] / heads, true};
}

}  // namespace lowtide::kernels_internal
