// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/kernels/onednn/convolution.h"
#include "lowtide/kernels/onednn/onednn_kernel.h"
#include "lowtide/kernels/onednn/product.h"
#include "lowtide/kernels/onednn/reordering.h"

namespace lowtide::kernels_internal {

// The tensors that the primitive of a problem reads and writes.
[[nodiscard]] std::vector<Argument> arguments_of(const Convolution& convolution);
[[nodiscard]] std::vector<Argument> arguments_of(const Product& product);
[[nodiscard]] std::vector<Argument> arguments_of(const Reordering& reordering);

}  // namespace lowtide::kernels_internal
