// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lowtide/target/target.h"

namespace lowtide::detail {

// One kernel of a description. With the bytes of a node's distinct inputs that are no constants (I), of its outputs
// (O) and of its distinct constant inputs (W):
//   scratch = scratch + scratch_per_input_byte x I + scratch_per_output_byte x O + scratch_per_weight_byte x W
//   cost    = cost_seconds + cost_seconds_per_byte x (I + O + W)
struct KernelRule {
  std::string domain;  // "" for the operators of ONNX itself
  std::string type;    // "*": every operator, of any domain
  std::string name;
  Bytes scratch;  // at most limits::kMaxTensorBytes
  std::int64_t scratch_per_input_byte = 0;
  std::int64_t scratch_per_output_byte = 0;
  std::int64_t scratch_per_weight_byte = 0;
  bool in_place = true;  // where the operator allows it; a description can only forbid more
  bool may_alias_views = true;
  double cost_seconds = 0;
  double cost_seconds_per_byte = 0;
};

// Scratch beyond limits::kMaxTensorBytes, which no machine has, counts as that much.
[[nodiscard]] std::shared_ptr<const Catalogue> described_catalogue(std::vector<KernelRule> rules);

}  // namespace lowtide::detail
