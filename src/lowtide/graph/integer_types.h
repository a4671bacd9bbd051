// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/graph/dtype.h"

namespace lowtide {

// Whether the elements are integers, or booleans, of whole bytes.
[[nodiscard]] constexpr bool is_integer_of_bytes(DType dtype) {
  switch (dtype) {
    case DType::i64:
    case DType::i32:
    case DType::i16:
    case DType::i8:
    case DType::u64:
    case DType::u32:
    case DType::u16:
    case DType::u8:
    case DType::boolean: return true;
    default: return false;
  }
}

}  // namespace lowtide
