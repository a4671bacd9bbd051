// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/kernels/common/family.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// The kernel "blocks.transpose" of lowtide::Transpose: from blocks of channels to channels as the last axis, or back.
[[nodiscard]] Family block_transpose_family();

// How this kernel runs such a Transpose of the model, given the format of the side in which the channels are the second
// axis. nullopt: it cannot, or no element moves.
[[nodiscard]] std::optional<FormatOption> transpose_option(const Graph& graph, NodeId node, Format format);

}  // namespace lowtide::kernels_internal
