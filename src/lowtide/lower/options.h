// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/origins.h"
#include "lowtide/lower/passes.h"
#include "lowtide/target/formats.h"

namespace lowtide {

struct LowerOptions {
  PassSet passes = passes_for(PassUse::always);  // those that are on
  bool checks_types = true;  // off: for a graph that is only planned, whose integer operators ONNX does not have
  // The number of entries of the model's ConstantTable. Output k of Lowered::load becomes a constant of the graph that
  // runs, and gets entry `*constants + k` as Tensor::constant. nullopt: the model has no table, and it gets none.
  std::optional<std::uint32_t> constants = std::nullopt;
  // The table of the model, only for the call. nullptr: no numbers of constants are known, and passes that need them
  // (PassTrait::needs_table) change nothing.
  const ConstantTable* table = nullptr;
  // The formats of the machine (Target::formats). nullptr: it has none, and passes that ask for them
  // (PassTrait::asks_machine) change nothing.
  std::shared_ptr<const KernelFormats> machine = nullptr;
};

// The graph that runs instead of the graph of the model file.
struct Lowered {
  Graph graph;
  Graph load;  // what runs once, when the model is loaded; it may have no nodes
  // The names of the passes that changed the graph, in order. A plan lists them (Provenance::lowering), so that a
  // reader can make the same graph again.
  std::vector<std::string> passes;
  // Which nodes and tensors of the model `graph` has. nullopt: no pass changed the graph, so all ids are equal.
  std::optional<Origins> origins = std::nullopt;
};

}  // namespace lowtide
