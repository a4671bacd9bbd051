// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/rewrite.h"
#include "lowtide/target/formats.h"

namespace lowtide {

// Chooses a format for each tensor: plain, or the blocks of channels that the machine's convolutions read and write.
//
//   x -> Conv(w) -> a -> Relu -> y              f32[1,3,8,8], f32[1,16,8,8], f32[1,16,8,8]
//
// becomes, with blocks of 16 channels,
//
//   p = lowtide::Pack(w)                        work on constants
//   x -> lowtide::Conv(p) -> a -> Relu -> "y (nchw16c)" -> lowtide::Reorder -> y
//
// where a and "y (nchw16c)" are f32[1,1,8,8,16]. A blocked tensor keeps its name unless the plain one remains.
//
// A convolution whose weights are a constant has the first of its formats that the machine offers. These nodes have
// either blocks or plain tensors: pools that the machine offers in blocks, BatchNormalization, element-wise nodes and
// chains, and Concat along the channels. Connected ones get the same format, so that the fewest bytes are moved by
// Reorder nodes and added by padding. A Transpose that moves the channels to the last axis reads blocks where it can,
// and one that moves them from there writes blocks. All other nodes and all outputs and states are plain.
//
// The rewrite is sound because the blocks have the elements of the plain tensor and zeros in all other lanes:
//   - The operands of an element-wise node have one element, or the same blocks of the same channels as its result.
//     Unless these fill their blocks, the node becomes a chain with `channels`, which writes the zeros.
//   - The operands of a Concat along the channels fill their blocks, or it becomes a lowtide::Concat, which moves
//     channels from block to block.
// So results have the same bits as with plain tensors, except those of convolutions and pools, whose kernels add in
// another order.
//
// Bodies are rewritten as well, each on its own: what they capture, get and return is plain. Returns nullopt if nothing
// changes. Errors: those of GraphBuilder. O(edges log edges), and the time of KernelFormats::options for each
// convolution and pool. Recursion only over bodies.
[[nodiscard]] Result<std::optional<Rewritten>> choose_formats(const Graph& graph, const KernelFormats& machine);

}  // namespace lowtide
