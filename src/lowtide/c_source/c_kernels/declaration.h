// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>
#include <vector>

#include "lowtide/c_source/c_kernels/c_kernel.h"

// Reads what files of kernels and helpers declare. They have a licence of two lines, then lines such as
//
//     // uses: clamp scale        the helpers that the text calls
//     // null: bias               pointers that may be null
//     // in place: input          pointers that may be equal to the last one, the output
//
// then an empty line and the text. A kernel has a struct with one member per line, and one function.
namespace lowtide::c_kernels_internal {

struct Declaration {
  std::string_view text;  // without what is before it
  std::vector<std::string_view> uses;
  std::vector<std::string_view> null;
  std::vector<std::string_view> in_place;
};

[[nodiscard]] Declaration read_declaration(std::string_view file);

// The members of the kernel's struct.
[[nodiscard]] std::vector<CMember> read_members(std::string_view name, std::string_view text);

// The pointers of the kernel's function, after that to the struct.
[[nodiscard]] std::vector<CPointer> read_pointers(std::string_view name, const Declaration& declaration);

}  // namespace lowtide::c_kernels_internal
