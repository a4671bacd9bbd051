// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/dtype.h"

namespace lowtide {

// The head of a file in NumPy's format `.npy`. The elements follow it, dense, row-major and little-endian.
struct NpyHead {
  DType dtype = DType::f32;
  std::vector<std::int64_t> extents;
  std::size_t begin = 0;  // of the elements, in bytes from the start of the file
};

// Reads the head of versions 1 to 3, and checks that the elements are there. Messages begin with `source_name`. Errors:
// (malformed) not this format; (unsupported) column-major order, big-endian numbers, or an element type without DType;
// (invalid) the file has more or fewer bytes than its elements need. O(length of the head).
[[nodiscard]] Result<NpyHead> read_npy_head(std::span<const std::byte> file, const std::string& source_name);

// The whole file. Errors: (unsupported) NumPy has no such element type.
[[nodiscard]] Result<std::string> write_npy(DType dtype, std::span<const std::int64_t> extents,
                                            std::span<const std::byte> elements);

}  // namespace lowtide
