// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/machine.h"

namespace lowtide {

// One way to run a node on this machine.
struct Kernel {
  std::string name;  // "dense"
  Bytes scratch;     // bytes it needs while it runs, besides its tensors
  // Pairs (index into Node::inputs, index into Node::outputs) whose bytes may be the same: the kernel writes an
  // element only after it has read everything of the input that later elements need. Same start, and the output is not
  // larger. An input may die here only; that is for the planner to see.
  std::vector<std::pair<int, int>> in_place;
  bool may_alias_views = true;  // a view (graph/operator_traits.h) costs nothing: its output may be its input's bytes
  double cost_seconds = 0;      // estimate; >= 0, finite; 0: not known
};

// Gives each node its kernels, the best first, never none. Pure: same graph and node, same answer.
class Catalogue {
 public:
  virtual ~Catalogue() = default;
  [[nodiscard]] virtual std::vector<Kernel> kernels(const Graph& graph, NodeId node) const = 0;
};

// Row-major dense tensors, no scratch, in place by operator rule (OperatorTraits::in_place): the input and the
// output have the same shape and the same element size.
[[nodiscard]] std::shared_ptr<const Catalogue> dense_catalogue();

// A machine and its kernels.
struct Target {
  std::string name;
  Machine machine;  // at least one region
  std::shared_ptr<const Catalogue> catalogue;
};

// One region "arena" without a capacity, alignment 64, one worker, the dense catalogue.
[[nodiscard]] Target dense_target();

}  // namespace lowtide
