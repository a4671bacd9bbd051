// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide {

std::int64_t size_of(CType type) {
  switch (type) {
    case CType::int8:
    case CType::uint8:
    case CType::boolean: break;
    case CType::int16: return 2;
    case CType::int32:
    case CType::float32: return 4;
    case CType::int64: return 8;
  }
  return 1;
}

}  // namespace lowtide
