// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "lowtide/graph/rewrite.h"
#include "lowtide/graph/text.h"

namespace lowtide::testing {

// The graph that a pass made of `graph`, or `graph` itself if the pass gave none. A pass gives a graph only if it
// differs.
inline Graph after_pass(const Graph& graph, Result<std::optional<Rewritten>> changed) {
  if (!changed) throw std::runtime_error(changed.error().describe());
  if (!*changed) return graph;
  EXPECT_NE(print_graph((*changed)->graph), print_graph(graph)) << "the pass gives a graph that it did not change";
  return std::move((*changed)->graph);
}

}  // namespace lowtide::testing
