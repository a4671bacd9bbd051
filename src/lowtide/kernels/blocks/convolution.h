// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/graph/epilogue.h"
#include "lowtide/kernels/common/family.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// The kernels of lowtide::Conv: "blocks.conv", and for Winograd's algorithm "blocks.winograd" and
// "blocks.winograd_narrow", which have the same bits. Each computes an epilogue with the functions of a chain, so the
// results have the bits of both nodes, one after another. They do not depend on the number of threads either.
[[nodiscard]] Family block_convolution_family();

// How this kernel runs a Conv of the model whose result has this format. nullopt: it cannot.
[[nodiscard]] std::optional<FormatOption> block_option(const Graph& graph, NodeId node, Format format);
// Whether this kernel runs a lowtide::Conv.
[[nodiscard]] bool has_block_kernel(const Graph& graph, NodeId node);
// Whether "blocks.winograd" runs a lowtide::Conv without an algorithm, and is faster.
[[nodiscard]] bool has_winograd_kernel(const Graph& graph, NodeId node);
// Whether both compute this epilogue.
[[nodiscard]] bool can_follow_in_blocks(const EpilogueParts& epilogue);

}  // namespace lowtide::kernels_internal
