// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Something of a tensor that is not known before the run.
struct UnknownSize {
  // Where it begins: an input of the model, a node whose inputs are known, or something before it.
  enum class Origin : std::uint8_t { input, node, inherited };

  Origin origin = Origin::inherited;
  std::string tensor;
  std::optional<int> axis;  // nothing: the rank or the element type
  std::string symbol;       // of the extent in the file; may be empty
  std::string maker;        // place of the node; empty for an input
  std::string type;         // "f32[batch,3]"
};

// What the walk over a graph and its bodies met that cannot be planned, or is worth telling.
struct Findings {
  std::vector<UnknownSize> unknown;
  std::vector<std::string> unsupported;      // "'x' is a sequence (graph ...: node ...)"
  std::vector<std::string> upper_bounds;     // tensors whose size is an upper bound
  std::vector<std::string> sorted_graphs;    // graphs whose nodes had to be sorted
  std::vector<std::string> standard_values;  // inputs that have a value in the file, and are constants here

  std::vector<std::string> dead_branches;        // nodes with a branch that never runs
  std::vector<std::string> impossible_branches;  // that no sizes as these let run, with the reason
  std::vector<std::string> stale_sizes;          // declared inside bodies, against what the operators say

  void append(Findings&& other);
};

// The error that lists what cannot be planned: unsupported first, else unresolved, symbol by symbol with a way out.
[[nodiscard]] Result<void> outcome_of(const Findings& findings);

// One sentence for each kind of remark.
[[nodiscard]] std::vector<std::string> notes_of(const Findings& findings);

}  // namespace lowtide::import_internal
