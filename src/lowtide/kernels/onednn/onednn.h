// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/kernels/common/family.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// The library of kernels that the program finds, for MachineKey.
struct LibraryKey {
  std::string isa;      // the best instruction set that it uses here: "avx512_core_bf16"; "any" without a library
  std::string version;  // "onednn 3.2.0", or "none"
};
[[nodiscard]] LibraryKey library_key();

// Whether the program finds the library. Loads it, as each function of this header does but library_families().
[[nodiscard]] bool has_library();

// The families of the library's kernels, whose names begin with kLibraryPrefix. Requires of their functions:
// has_library().
[[nodiscard]] std::span<const Family> library_families();
inline constexpr std::string_view kLibraryPrefix = "onednn.";

// All ways in which the library's kernels run a convolution of the model, the fastest one first.
[[nodiscard]] std::vector<FormatOption> options_of_convolution(const Graph& graph, NodeId node);

// The blocks that fill a register of the instruction set that the library uses here.
[[nodiscard]] Format library_blocks();

// The formats in which the library's kernels run nodes of the model. Of a convolution, it has the fastest way alone
// whose result is in blocks. nullptr without a library.
[[nodiscard]] std::shared_ptr<const KernelFormats> library_formats();

}  // namespace lowtide::kernels_internal
