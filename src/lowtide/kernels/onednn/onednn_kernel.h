// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/onednn/handles.h"
#include "lowtide/kernels/onednn/parts.h"

namespace lowtide::kernels_internal {

// One tensor of a primitive, and which operand of the node it is.
struct Argument {
  int name = 0;  // DNNL_ARG_SRC
  dnnl_query_t tensor = dnnl_query_undef;
  enum class From : std::uint8_t { read, write } from = From::read;
  std::size_t index = 0;  // into Node::inputs or Node::outputs
  int number = 0;         // of several tensors of this kind (tensor_of)
};

// The kernel that executes the primitives, one per thread of its team. Each gets the arguments, and a scratchpad of its
// own. Generates the code of the primitives. Errors: (unsupported) there is none, or oneDNN cannot make it.
[[nodiscard]] Result<std::unique_ptr<PreparedKernel>> onednn_kernel(std::vector<PrimitivePart> parts,
                                                                    std::vector<Argument> arguments);

}  // namespace lowtide::kernels_internal
