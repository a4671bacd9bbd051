// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/graph/graph.h"
#include "lowtide/target/target.h"

namespace lowtide {

// An estimate of the time that a kernel takes if no measured cost is known. It is a plain model of one core. Use it to
// compare plans, not to predict seconds.
//
//   1 us to start it
//   0.1 ns per byte of its distinct inputs, including constants, and of its outputs (10 GB/s)
//   0.02 ns per floating-point operation of Conv, ConvTranspose, Gemm and MatMul (50 GFLOP/s)
//
// A node with bodies takes as long as all nodes of its bodies together, each run once, because the number of iterations
// of a Loop is not known.
namespace cost_model {
inline constexpr std::int64_t kPicosecondsToStart = 1'000'000;
inline constexpr std::int64_t kPicosecondsPerByte = 100;
inline constexpr std::int64_t kPicosecondsPerOperation = 20;
inline constexpr std::int64_t kMostPicoseconds = std::int64_t{1} << 60;  // 13 days; the upper limit of an estimate
}  // namespace cost_model

// Returns Kernel::cost_seconds if the catalogue has it, otherwise the estimate of the model above. The result is in
// [1, kMostPicoseconds]. It is an integer, so that comparisons give the same result on every machine.
// O(inputs + outputs), including those of bodies.
[[nodiscard]] std::int64_t estimated_picoseconds(const Graph& graph, NodeId node, const Kernel& kernel);

}  // namespace lowtide
