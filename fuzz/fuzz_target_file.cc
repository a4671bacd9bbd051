// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as a target file.

#include <cstddef>
#include <cstdint>

#include "lowtide/target/description.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static_cast<void>(lowtide::parse_target({reinterpret_cast<const char*>(bytes), size}, "fuzz"));
  return 0;
}
