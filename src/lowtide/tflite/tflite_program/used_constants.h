// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide::tflite_program_internal {

// Leaves out constants that no call passes, such as the shape of a RESHAPE, and those with the type and the bytes of
// another one. The first `tensors` constants are tensors of the file: each takes the name of what the first call that
// reads it takes it for, such as "weights of CONV_2D 3 (conv1)". O(bytes of constants + operands).
void keep_used_constants(std::size_t tensors, CProgram& program);

}  // namespace lowtide::tflite_program_internal
