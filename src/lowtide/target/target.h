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
#include "lowtide/target/formats.h"

namespace lowtide {

// What the time of a kernel is from.
enum class CostSource : std::uint8_t {
  model,     // the plain model of one core (target/cost.h), perhaps times a factor of the kernel
  target,    // a target file
  measured,  // runs on this machine (target/kernel_times.h)
};

// One way to run a node on a machine.
struct Kernel {
  std::string name;  // "dense"
  Bytes scratch;     // bytes that it needs while it runs, in addition to its tensors
  // Pairs (index into Node::inputs, index into Node::outputs) that may have the same bytes: the kernel writes an
  // element only after it has read all input elements that it still needs. Both have the same start, and the output is
  // not larger. The planner checks that no later step reads the input.
  std::vector<std::pair<int, int>> in_place;
  // Whether a view (graph/operator_traits.h) may have the bytes of its source, so that it takes no time.
  bool may_alias_views = true;
  double cost_seconds = 0;                     // of one run, >= 0 and finite; 0 if it is not known
  CostSource cost_source = CostSource::model;  // of cost_seconds
  // Off: the operator is unknown or runs a whole graph, and no target describes it. What it needs besides its tensors
  // is not counted, so no figure with this kernel is proven.
  bool is_memory_known = true;
};

// Gives each node its kernels, the fastest one first. There is at least one, and the names are unique. A plan has the
// first, unless it must fit a limit (pipeline/plan_graph.h). An implementation must ensure that the result depends only
// on the graph and the node.
class Catalogue {
 public:
  virtual ~Catalogue() = default;
  [[nodiscard]] virtual std::vector<Kernel> kernels(const Graph& graph, NodeId node) const = 0;
};

// Kernels for dense row-major tensors, without scratch. They work in place if OperatorTraits::in_place permits it, and
// if the input and the output have the same shape and element size. An operator that may overwrite any input may do so
// if the shapes differ only in leading extents of 1.
[[nodiscard]] std::shared_ptr<const Catalogue> dense_catalogue();

// A machine and its kernels.
struct Target {
  std::string name;
  Machine machine;  // at least one region
  std::shared_ptr<const Catalogue> catalogue;
  // Operators of the standard ONNX domain that have kernels in the description, but that Lowtide does not know. The
  // name may be misspelled, and then no node has these kernels. Sorted.
  std::vector<std::string> unknown_operators = {};
  // What the scratch and the formats of its kernels depend on, as sorted texts: "isa=avx2". A plan is only valid for a
  // machine with an equal key. Empty: the description states everything.
  std::vector<std::string> machine_key = {};
  // Whether its kernels of a quantized model work on integers of 8 bits. The graph is then lowered with the passes for
  // integers (lower/passes.h).
  bool has_integer_kernels = false;
  // nullptr: every tensor keeps the format of the model, and no kernel does the work of two nodes.
  std::shared_ptr<const KernelFormats> formats = nullptr;
};

// A target with one region "arena" without capacity and with alignment 64, one worker, and the dense catalogue.
[[nodiscard]] Target dense_target();

}  // namespace lowtide
