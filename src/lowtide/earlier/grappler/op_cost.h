// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/graphdef/output_types.h"
#include "lowtide/earlier/grappler/cluster.h"

namespace lowtide::grappler_internal {

struct CostedNode {
  const DefNode& node;
  std::vector<const OutputType*> inputs;  // data inputs
  const std::vector<OutputType>& outputs;
};

// Times in nanoseconds do not grow beyond this.
inline constexpr std::int64_t kMostTime = std::int64_t{1} << 62;

// What Grappler's OpLevelCostEstimator counts of a node. Doubles, because it divides them by the speed of a device.
struct OpWork {
  double operations = 0;
  double read_bytes = 0;
  double written_bytes = 0;
  bool is_least = false;  // 1 ns, whatever the device
};

// The work of an operator by the rules of TensorFlow 2.21. Of an operator without a rule only the bytes count. An
// unknown extent, and an unknown shape, count as 1. Einsum, CropAndResize, ResizeBilinear, FusedConv2DBiasActivation
// and SparseTensorDenseMatMul, for which the original has rules, have none here. O(extents of the operands).
[[nodiscard]] OpWork work_of(const CostedNode& costed);

// Nanoseconds of that work on a device, at most 2^61: the operations one after another, and then the bytes.
[[nodiscard]] std::int64_t nanoseconds_on(const OpWork& work, const ClusterDevice& device);

// Elements and bytes of a tensor. Unknown extents, and an unknown shape, count as 1.
[[nodiscard]] double elements_of(const OutputType& type);
[[nodiscard]] double bytes_of(const OutputType& type);

// op_cost_windows.cc: convolutions, pools and batch normalizations. False: the operator is none of these.
[[nodiscard]] bool count_window_work(const CostedNode& costed, OpWork& work);

}  // namespace lowtide::grappler_internal
