// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <new>

#include "lowtide/base/result.h"

namespace lowtide {

// The error for memory that the system refused, for handlers of std::bad_alloc. `make` returns it with its texts. If
// there is no memory for these either, the error has a text that is stored in the object itself.
template <typename Make>
[[nodiscard]] Error no_memory_error(Make make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::no_memory, "out of memory", ""};
  }
}

}  // namespace lowtide
