// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// The plain figures that anyone can check with a model and a pencil: temporaries and outputs at their dense sizes, no
// aliasing, no alignment, no scratch; the nodes in the order of the graph. A tensor lives from the step of its producer
// to that of its last reader, an output to the end, and one without readers only in its producer's step.
// A node with bodies adds, at its step, the largest load of its bodies as given: of an If the larger branch; a body of
// a Loop or Scan counts its own inputs throughout, since nothing else holds them.
struct PlainFigures {
  Bytes temporaries_sum;  // all temporaries and outputs, those of bodies too
  Bytes load_as_given;
  Bytes constants;  // those of bodies too
  Bytes inputs;
  Bytes outputs;
};
[[nodiscard]] PlainFigures plain_figures(const Graph& graph);

}  // namespace lowtide
