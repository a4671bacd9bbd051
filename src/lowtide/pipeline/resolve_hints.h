// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/hints.h"

namespace lowtide {

struct RefusedHint {
  HintRequest request;
  std::string reason;  // a clause: "no node or tensor has this name"
};

struct ResolvedHints {
  std::vector<NodeHint> accepted;  // each node once
  std::vector<std::string> names;  // as they were written, by accepted hint
  std::vector<RefusedHint> refused;
};

struct HintOptions {
  const Graph* written = nullptr;  // the graph of the model before lowering, to say what became of a name
  bool has_link = false;           // results can leave
  bool is_plain = false;           // the graph has no operators, and every node may run again
};

// Finds the nodes of hints, and refuses what cannot be honoured: an unknown or ambiguous name, a second hint for a
// node, a swap without a link, and a recomputation that would give another result, have effects, or have no second
// reader. Hints add no dependencies, so they cannot form a cycle. O(nodes + tensors + hints log hints).
[[nodiscard]] ResolvedHints resolve_hints(const Graph& graph, const std::vector<HintRequest>& requests,
                                          const HintOptions& options = {});

}  // namespace lowtide
