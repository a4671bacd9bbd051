// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace lowtide::kernels_internal {

// The library of kernels that the program is linked with, for MachineKey.
struct LibraryKey {
  std::string isa;      // the best instruction set that it uses here: "avx512_core_bf16"; "any" without a library
  std::string version;  // "onednn 3.2.0", or "none"
};
[[nodiscard]] LibraryKey library_key();

}  // namespace lowtide::kernels_internal
