// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lowtide/target/target.h"

namespace lowtide::target_internal {

// One kernel of a description. I is the number of bytes of the node's distinct inputs that are not constants, O that
// of its outputs, and W that of its distinct constant inputs:
//   scratch = scratch + scratch_per_input_byte x I + scratch_per_output_byte x O + scratch_per_weight_byte x W
//   cost    = cost_seconds + cost_seconds_per_byte x (I + O + W)
struct KernelRule {
  std::string domain;  // "" for the standard ONNX domain
  std::string type;    // "*" means every operator of every domain
  std::string name;
  Bytes scratch;  // at most limits::kMaxTensorBytes
  std::int64_t scratch_per_input_byte = 0;
  std::int64_t scratch_per_output_byte = 0;
  std::int64_t scratch_per_weight_byte = 0;
  bool in_place = true;  // false forbids what the operator would allow
  bool may_alias_views = true;
  double cost_seconds = 0;
  double cost_seconds_per_byte = 0;
};

// The catalogue with these kernels. Scratch is capped at limits::kMaxTensorBytes, which exceeds every machine.
[[nodiscard]] std::shared_ptr<const Catalogue> described_catalogue(std::vector<KernelRule> rules);

}  // namespace lowtide::target_internal
