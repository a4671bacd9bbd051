// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/report/page.h"

namespace lowtide {

// A node, or a step, as a report shows it. Names are raw: what prints them quotes them.
struct ShownNode {
  std::string name;     // may be empty; of a copy: the tensor
  std::string op;       // empty: there is none (no producer, no reader); of a copy: "copy"
  std::string to = {};  // of a copy to another region: that region
};

// "copy x", or "copy x to dram". Requires: the step is a copy; the ids in it are in range.
[[nodiscard]] ShownNode shown_copy(const Plan& plan, const Step& step, const std::string& tensor);

// What takes bytes at the peak: a tensor, several that share a buffer, or the scratch of the node that runs.
struct PeakHolder {
  BufferKind kind = BufferKind::temporary;
  Bytes size;                 // of a buffer of parts: of those that live at that step
  std::string tensor;         // what the buffer is called after (as given: the tensor); empty for scratch
  std::uint32_t ordinal = 1;  // of a plan: which value of the tensor it is (ordinals_of)
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t sharing = 0;      // other tensors in the same bytes at that step
  Interval<std::int64_t> steps;  // [first write, last use + 1)
  ShownNode producer;            // of the tensor; of a plan: the first that writes these bytes
  ShownNode last_reader;         // of any tensor in these bytes; none for an output
};

// The step with the largest load and all that lives there, the largest first.
struct Peak {
  std::string inside;  // "then_branch" for a body, empty for the graph itself
  Bytes load;
  std::int64_t step = 0;
  std::int64_t steps = 0;  // of the whole program; 0: there is nothing to show
  ShownNode node;
  std::vector<PeakHolder> holders;
};

// The peak of a graph in the order of its file: temporaries and outputs at their dense sizes, no aliasing (the peak of
// PlainFigures::load_as_given). Where the node at the peak has bodies, the largest of them follows as the next level,
// and so on inwards. O(nodes + edges) a level.
[[nodiscard]] std::vector<Peak> peak_as_given(const Graph& graph);

// The peak of a plan, level by level in the same way. A buffer is called after the tensor in it that matters most over
// its whole life, as on the page: an output before others, then the largest, then the one read last.
// Requires: the plan is valid.
[[nodiscard]] std::vector<Peak> peak_of(const NamedPlan& shown);

}  // namespace lowtide
