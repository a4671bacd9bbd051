// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/kernels/common/family.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// The kernel "blocks.pool" of lowtide::MaxPool, lowtide::AveragePool and lowtide::GlobalAveragePool. It takes the taps
// of a result in the order of the plain kernel, so it has the same bits, for any number of threads.
[[nodiscard]] Family block_pool_family();

// How this kernel runs such a pool of the model on tensors with this format. nullopt: it cannot.
[[nodiscard]] std::optional<FormatOption> pool_option(const Graph& graph, NodeId node, Format format);

}  // namespace lowtide::kernels_internal
