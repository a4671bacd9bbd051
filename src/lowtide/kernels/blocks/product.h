// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/graph/epilogue.h"
#include "lowtide/kernels/common/family.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// The kernels of lowtide::PackedMatMul: "blocks.matmul", and "blocks.matmul_by_row", which is several times slower but
// needs no scratch. They compute an epilogue with the functions of a chain, so the results have the bits of both nodes,
// one after another. They depend neither on the kernel nor on the number of threads.
[[nodiscard]] Family block_product_family();

// How this kernel runs a MatMul or a Gemm of the model on a machine with blocks of this format. nullopt: it cannot. The
// second operand need not be a constant.
[[nodiscard]] std::optional<FormatOption> product_option(const Graph& graph, NodeId node, Format format);
// Whether this kernel computes this epilogue after a lowtide::PackedMatMul.
[[nodiscard]] bool can_follow_product(const EpilogueParts& epilogue);

}  // namespace lowtide::kernels_internal
