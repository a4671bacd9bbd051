// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// Why a rule cannot begin with BaselineOptions::assigned.
struct AssignedFault {
  std::size_t slot = 0;  // index in BaselineOptions::assigned
  std::size_t at = 0;    // index in that list; 0 for an empty list
  std::string message;   // names the tensors
};

// Returns the first fault of options.assigned, or nullopt if there is none: a list without tensors, a tensor outside
// the graph, a blob that is listed twice or that does not share, and two blobs of a list that are on different devices
// or live at the same time. Results without readers are live to the end.
// Errors: those of apply_baseline for the order and for the other options that determine the blobs. O(n log n).
[[nodiscard]] Result<std::optional<AssignedFault>> find_assigned_fault(const Graph& graph,
                                                                       const std::vector<NodeId>& order,
                                                                       const BaselineOptions& options);

}  // namespace lowtide
