// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/kernels/common/family.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// The kernel "blocks.concat" of lowtide::Concat: a Concat along the channels whose operands do not fill their blocks.
[[nodiscard]] Family block_concat_family();

// How this kernel runs such a Concat of the model on tensors with this format. nullopt: it cannot, or the operands fill
// their blocks, so that a Concat of blocks does.
[[nodiscard]] std::optional<FormatOption> concat_option(const Graph& graph, NodeId node, Format format);

}  // namespace lowtide::kernels_internal
