// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/c_source/c_program/c_program.h"

namespace lowtide::c_writer_internal {

// The arena over the calls of a run, as lines for a comment. A row is a range of offsets, and a column one or more
// calls. A cell has the letter of the tensor that has the most bytes there:
//
//     1024 |BBB|
//      512 |AAC|
//        0 +---+
//
//   A  x    512 B at 0, calls 0 to 1
//
// O(tensors x cells).
[[nodiscard]] std::vector<std::string> drawing_of(const CProgram& program);

}  // namespace lowtide::c_writer_internal
