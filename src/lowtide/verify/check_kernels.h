// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/verify/verify.h"

namespace lowtide {

// A kernel of a target in the terms of `verify`, which may not include `target`.
struct KernelFacts {
  std::string name;
  Bytes scratch;
  // Pairs (index into Node::inputs, index into Node::outputs) that may have the same bytes.
  std::vector<std::pair<int, int>> in_place;
  bool may_alias_views = true;
};

// The kernels that a target offers for a node.
using OfferedKernels = std::function<std::vector<KernelFacts>(const Graph& graph, NodeId node)>;

// Checks the kernels of a plan against a target, which `verify` does not know: each step that computes has a kernel
// that the target offers for its node. The scratch of the step holds that of the kernel and the arenas of the bodies.
// If a result is in the bytes of an operand, the kernel permits this. An alias step has a kernel that may alias views.
// Violations are of kind wrong_kernel. Requires: verify() finds no violation. O(steps + kernels). Recursion only over
// bodies.
[[nodiscard]] std::vector<Violation> verify_kernels(const Graph& graph, const Plan& plan, const OfferedKernels& offered,
                                                    const VerifyOptions& options = {});

}  // namespace lowtide
