// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide::tflite_program_internal {

struct CmsisCall {
  CCall call;
  Bytes scratch;  // that it needs; 0: its scratch is null
};

// The call of CMSIS-NN 4 to 7 that computes the bits of a call of a kernel here. Constants are appended where CMSIS-NN
// wants a multiplier per channel. The scratch is enough for gcc, clang and Arm's compilers.
// nullopt: the library has no such function, or needs more than scratch for it.
[[nodiscard]] std::optional<CmsisCall> cmsis_call(const CCall& call, CmsisSet set, const COperand& scratch,
                                                  std::vector<CConstant>& constants);

}  // namespace lowtide::tflite_program_internal
