// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/analysis/bounds.h"
#include "lowtide/analysis/node_figures.h"
#include "lowtide/analysis/plain_figures.h"
#include "lowtide/analysis/weights.h"
#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"
#include "lowtide/target/target.h"

namespace lowtide {

// The memory that a graph needs without planning, and the work of its nodes.
struct Inspection {
  PlainFigures plain;
  Bytes working_set;     // the largest node alone
  LoadBound bound;       // no plan on this target without recomputation or extra copies has a smaller arena
  GraphFigures figures;  // of the graph, which must outlive them; operators by the bytes that they write, then by name
  Plan as_given;         // plan_as_given(graph), with its peaks
  Labels labels;         // of the graph
  std::optional<Weights> weights;  // nullopt if the target does not state where constants are
};

// Requires: the target has a catalogue, and a region that its first worker can write. Near linear in the graph
// (analysis/bounds.h).
[[nodiscard]] Inspection inspect_graph(const Graph& graph, const Target& target);

}  // namespace lowtide
