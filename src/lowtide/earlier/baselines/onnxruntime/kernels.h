// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

// Where a kernel of ONNX Runtime's CPU provider puts its first output. All other outputs get memory of their own.
enum class OutputRule : std::uint8_t {
  separate,     // in memory of its own: Add, Mul, BatchNormalization
  may_replace,  // over the input, if that has the same shape and element size and no later use: Relu, Softmax
  is_input,     // the bytes of the input under another shape: Reshape
};

struct KernelRule {
  OutputRule output = OutputRule::separate;
  std::size_t input = 0;  // index of the input that `output` refers to
};

// Returns `separate` for operators without a rule. `bench/onnxruntime_memory.py --kernels` compares the rules with the
// installed release.
[[nodiscard]] KernelRule kernel_rule(const Operator& op);

// The blocks that the kernel takes from the arena while it runs, in their order, with one thread and 32-bit floats.
// Kernels without a rule are assumed to take none. Sizes saturate at limits::kMaxTotalBytes.
[[nodiscard]] std::vector<Bytes> kernel_scratch(const Graph& graph, NodeId id);

// What the kernel takes from the arena when the session is created and keeps: the transposed weight of a ConvTranspose.
// Other kernels reserve their packed weights outside of the arena.
[[nodiscard]] Bytes kernel_packed(const Graph& graph, NodeId id);

}  // namespace lowtide::baselines_internal
