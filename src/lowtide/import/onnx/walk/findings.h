// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/imported.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// A rank, extent or element type of a tensor that is unknown before the run.
//
// After a size that begins at a node, the walk goes on as if it had a bound. So a size that follows from another
// unknown one has a bound, too, and is not found. The findings then are the least that the user has to bound.
struct UnknownSize {
  // Why the size is unknown: because of an input of the model, of a node whose inputs are known, or of another
  // unknown size.
  enum class Cause : std::uint8_t { input, node, inherited };

  Cause cause = Cause::inherited;
  std::string tensor;
  std::optional<int> axis;  // nullopt for the rank or the element type
  std::string symbol;       // of the extent in the file; may be empty
  std::string maker;        // place of the node; empty for an input
  std::string type;         // "f32[batch,3]"
};

// What a walk over a graph and its bodies found: what cannot be planned, and what the user should know.
struct Findings {
  std::vector<UnknownSize> unknown;
  std::vector<std::string> unsupported;     // "'x' is a sequence (graph ...: node ...)"
  std::vector<std::string> upper_bounds;    // tensors whose size is an upper bound
  std::vector<std::string> sorted_graphs;   // graphs whose nodes had to be sorted
  std::vector<std::string> default_values;  // inputs that have a value in the file and are planned as constants

  std::vector<std::string> dead_branches;        // nodes with a branch that never runs
  std::vector<std::string> impossible_branches;  // branches that cannot run with the given sizes, with the reason
  std::vector<std::string> stale_sizes;          // declared sizes that contradict the operators
  std::vector<std::string> idle_bounds;          // "'x'=3": upper bounds of extents that are all known

  std::vector<OpenSizes::OpenTensor> open_tensors;  // of the graph itself, without those of bodies

  void append(Findings&& other);
};

// Returns an error that lists everything that cannot be planned: the unsupported values if there are any, otherwise
// the open inputs with the options that bind them, otherwise the sizes that depend on data with those that bound them.
[[nodiscard]] Result<void> outcome_of(const Findings& findings);

// The names that options could bind or bound: symbols and tensors, sorted.
[[nodiscard]] std::vector<std::string> open_names(const Findings& findings);

// Returns one sentence for each kind of remark.
[[nodiscard]] std::vector<std::string> notes_of(const Findings& findings);

}  // namespace lowtide::import_internal
