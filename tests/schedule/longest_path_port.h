// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

namespace lowtide::testing {

// For each node, the nodes that read one of its results: each once, ascending, with larger numbers.
using PortedReaders = std::vector<std::vector<int>>;

// A port of Caffe2's topological_sort_traversal_longest_path with networkx 1, which shares no code with Lowtide's
// order: maps, recursion, and dictionaries that keep the order of insertion. nullopt if the original's assertion fails.
[[nodiscard]] std::optional<std::vector<int>> ported_longest_path(const PortedReaders& readers);

}  // namespace lowtide::testing
