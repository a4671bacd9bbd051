// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/graph/graph.h"
#include "lowtide/target/target.h"

namespace lowtide {

// How long a kernel may take, where nobody has measured it: a plain model of one core, to compare plans with each
// other and not to foretell seconds.
//
//   1 us to start it
//   0.1 ns for each byte of its distinct inputs, constants among them, and of its outputs (10 GB/s)
//   0.02 ns for each floating-point operation of Conv, ConvTranspose, Gemm and MatMul (50 GFLOP/s)
//
// A node with bodies takes as long as all nodes in them once; how often a Loop runs is not known.
namespace cost_model {
inline constexpr std::int64_t kPicosecondsToStart = 1'000'000;
inline constexpr std::int64_t kPicosecondsPerByte = 100;
inline constexpr std::int64_t kPicosecondsPerOperation = 20;
inline constexpr std::int64_t kMostPicoseconds = std::int64_t{1} << 60;  // 13 days; longer counts as this
}  // namespace cost_model

// Kernel::cost_seconds where the catalogue knows it, else by the model above. At least 1, at most kMostPicoseconds: an
// integer, so that comparisons are the same on every machine. O(inputs + outputs), bodies included.
[[nodiscard]] std::int64_t estimated_picoseconds(const Graph& graph, NodeId node, const Kernel& kernel);

}  // namespace lowtide
