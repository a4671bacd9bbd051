// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/sequence/kernel_choice.h"
#include "lowtide/pipeline/sequence/sequence.h"
#include "lowtide/pipeline/task/task.h"

namespace lowtide::pipeline_internal {

// The sequences that earlier plans of a graph and of its bodies have. A budget does not change which order is best for
// given kernels, so plans for several budgets search for orders once. Requires: all tasks have the same graph, target
// and options, except the budget, the hints, and the efforts of searches that begin later.
class KnownSequences {
 public:
  // The sequence with this choice of kernels. nullptr if none is known.
  [[nodiscard]] const Sequence* find(const Task& task, const KernelChoice& choice, BoundScope scope) const;

  void add(const Task& task, const Sequence& sequence);

  // Whether an earlier plan added something.
  [[nodiscard]] bool has_any() const { return !sequences_.empty(); }

 private:
  using Key = std::tuple<const Graph*, BoundScope, std::vector<std::size_t>>;
  static Key key_of(const Task& task, const OptionIndices& indices, BoundScope scope);

  std::map<Key, Sequence> sequences_;  // never iterated, because a key has an address
};

// Whether the offsets of a known sequence are those of a plan for this task. With several regions, they depend on the
// capacities. In one region, they do so only if they do not fit and other offsets might, because the load does.
[[nodiscard]] bool keeps_offsets(const Task& task, const Sequence& known);

}  // namespace lowtide::pipeline_internal
