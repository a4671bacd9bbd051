// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/bytes.h"
#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide {

// The most bytes of stack that a run of the program takes, if gcc 12 compiles it for an Arm Cortex-M with -O2 or -Os.
// These are the bytes of the run, and of the kernel that needs most, with its helpers and the functions of math.h that
// newlib has for it. Interrupts and the caller are not counted. nullopt: the program calls CMSIS-NN, whose
// stack is not known. A test compiles every kernel for four processors, runs functions of math.h on their boards, and
// compares.
[[nodiscard]] std::optional<Bytes> stack_bound(const CProgram& program);

}  // namespace lowtide
