// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_kernels/c_kernel.h"
#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide {

// The kernel with this name. nullptr: there is none.
[[nodiscard]] const CKernel* find_c_kernel(std::string_view name);

// All kernels, by name.
[[nodiscard]] const std::vector<CKernel>& c_kernels();

// The texts of kernels and of the helpers that they need. Each is there once, after those that it needs.
// Requires: the kernels exist.
[[nodiscard]] std::vector<std::string_view> c_texts(const std::vector<std::string_view>& kernels);

// Checks that a call fits its kernel: the number, names and kinds of its parameters, and the number, types and places
// of its operands. What the parameters say about sizes is not checked. Requires: offsets of tensors are set.
// Errors: invalid (another kernel or operand than the program says), unsupported (no such kernel). The place is that of
// the call.
[[nodiscard]] Result<void> check_c_call(const CProgram& program, const CCall& call);

}  // namespace lowtide
