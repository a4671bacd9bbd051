// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// What would lower the peak of a plan if the model were changed. The order stays, and so do all other buffers.
// A remedy that lowers the peak by less than 1 % is left out.
//
// Fusion: one operator replaces element-wise operators, so no buffer is needed between them:
//
//   Add a,b -> t;  Relu t -> u;  Mul u,c -> y      t and u are one buffer, which one operator a,b,c -> y does not need
//
// The fused operator runs last, so what the others read stays live until then.
struct FusionRemedy {
  // For each buffer between element-wise operators that is live at the peak: the steps of these operators, ascending.
  std::vector<std::vector<StepId>> chains;
  Bytes peak;  // if each of these chains were one operator
  // The number of all chains, and the peak if each were one operator. If that does not lower the peak by another 1 %,
  // both are those of `chains`.
  std::size_t all_chains = 0;
  Bytes peak_of_all;
};

// A smaller type: the values of buffers that hold only 32-bit floating-point numbers have fewer bits, in bodies too.
// Each buffer still has whole units of the alignment. The scratch of kernels stays as it is.
struct TypeRemedy {
  Bytes peak_16_bits;
  Bytes peak_8_bits;
  bool has_kernel_scratch = false;  // some kernel has scratch, which other types might change
};

struct ModelRemedies {
  std::optional<FusionRemedy> fusion;
  std::optional<TypeRemedy> type;
};

// With `region`, only the buffers in that region count. Requires: the plan is well-formed, and the labels are of its
// graph. O(n log n) in steps, values, reads and parts, over all bodies. Recursion is bounded by
// limits::kMaxBodyNesting.
[[nodiscard]] ModelRemedies model_remedies(const Plan& plan, const Labels& labels,
                                           std::optional<RegionId> region = std::nullopt);

}  // namespace lowtide
