// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide {

// Fills the states with what they have before the first run.
// Requires: the arena has at least the program's size.
void set_initial_states(const CProgram& program, std::span<std::byte> arena);

// Runs all calls with the kernels that generated C source has. Inputs are read from the arena, and outputs are in it
// afterwards. Requires: the arena has at least the program's size, and its address is a multiple of 16; what parameters
// say about sizes fits the operands. Errors: those of check_c_call(), before anything runs.
[[nodiscard]] Result<void> run_c_program(const CProgram& program, std::span<std::byte> arena);

}  // namespace lowtide
