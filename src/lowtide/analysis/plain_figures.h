// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// Plain figures that can be checked by hand. They count temporaries and outputs at their dense sizes, without aliases,
// alignment or scratch. The nodes run in the order of the graph. A tensor is live from the step of its producer to that
// of its last reader. An output is live to the end. A tensor without readers is live only in the step of its producer.
// A node with bodies adds, at its step, the largest load of its bodies as given. For an If, that is the load of the
// larger branch. A body of a Loop or Scan counts its own inputs throughout, because no other buffer holds them.
struct PlainFigures {
  Bytes temporaries_sum;  // all temporaries and outputs, including those of bodies
  Bytes load_as_given;
  Bytes constants;  // including those of bodies
  Bytes inputs;
  Bytes outputs;
};
// O(nodes + edges), including those of bodies.
[[nodiscard]] PlainFigures plain_figures(const Graph& graph);

}  // namespace lowtide
