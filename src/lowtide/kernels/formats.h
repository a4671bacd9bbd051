// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// The formats in which the kernels of this machine run nodes of the model: those of convolutions in blocks, and those
// of oneDNN for all other nodes. nullptr without oneDNN.
[[nodiscard]] std::shared_ptr<const KernelFormats> cpu_formats();

}  // namespace lowtide::kernels_internal
