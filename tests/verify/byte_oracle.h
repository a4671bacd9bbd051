// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide::testing {

// Runs a plan of a small graph on a memory of tags, one a byte: (tensor, step that wrote it, byte of the tensor). Every
// read must find its own tags; aliases get theirs by element arithmetic (view_bytes.h); a kernel may overwrite a byte
// that it reads only if the one element it writes there is the only one that needs it. Knows no intervals, no
// lifespans, and no line of the verifier. The first few faults, or none: then a machine that does as the plan says
// computes right.
//
// Require: arenas of at most 2^20 bytes.
[[nodiscard]] std::vector<std::string> byte_faults(const Graph& graph, const Plan& plan, bool is_body = false);

// What else a plan promises (plan.h), each rule checked the slowest way: ids, provenance, buffers against buffers pair
// by pair, lifespans against accesses, kinds against roles, claims.
[[nodiscard]] std::vector<std::string> rule_faults(const Graph& graph, const Plan& plan, bool is_body = false);

}  // namespace lowtide::testing
