// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/origins.h"
#include "lowtide/target/formats.h"

namespace lowtide {

// Each pass has a header of its own, which states when it is sound. All passes except `padding`, `halves`,
// `batch_norm`, `layer_norm`, `attention`, `quantized`, `formats`, `epilogues` and `winograd` keep every bit of the
// results.
struct LowerOptions {
  bool unneeded = false;           // on: copies, and nodes that nothing needs, are left out (remove_unneeded.h)
  bool padding = false;            // on: convolutions and pools pad what a Pad before them padded (fold_padding.h)
  bool halves = false;             // on: operators on f16 compute on f32 (widen_halves.h)
  bool batch_norm = false;         // on: convolutions take over a BatchNormalization (fold_batch_norm.h)
  bool layer_norm = false;         // on, with `table`: a LayerNormalization that is written out is one node
                                   // (fuse_layer_norm.h)
  bool attention = false;          // on, with `table`: an attention that is written out is one node (fuse_attention.h)
  bool quantized = false;          // on: operators between integers run on integers (quantized_kernels.h)
  bool load_time = true;           // off: work on constants is part of every run (load_time.h)
  bool chains = false;             // on: connected element-wise nodes run as one node (fuse_chains.h)
  bool formats = false;            // on: convolutions and their neighbors have formats of `machine` (choose_formats.h)
  bool epilogues = false;          // on: products of `machine` compute the chain after them (fuse_epilogues.h)
  bool winograd = false;           // on: convolutions of 3 x 3 multiply less, if `machine` is faster (use_winograd.h)
  bool inputs_in_arena = false;    // on: the caller writes the inputs into the arena (inputs_in_arena.h)
  bool outputs_at_caller = false;  // on: the outputs are in memory of the caller (outputs_at_caller.h)
  bool checks_types = true;        // off: for a graph that is only planned, whose integer operators ONNX does not have
  // The number of entries of the model's ConstantTable. Output k of Lowered::load becomes a constant of the graph that
  // runs, and gets entry `*constants + k` as Tensor::constant. nullopt: the model has no table, and it gets none.
  std::optional<std::uint32_t> constants = std::nullopt;
  const ConstantTable* table = nullptr;  // of the model, only for the call; nullptr: no numbers of constants are known
  // The formats of the machine (Target::formats). nullptr: it has none, and the passes `formats`,
  // `epilogues` and `winograd` change nothing.
  std::shared_ptr<const KernelFormats> machine = nullptr;
};

// The graph that runs instead of the graph of the model file.
struct Lowered {
  Graph graph;
  Graph load;  // what runs once, when the model is loaded; it may have no nodes
  // The names of the passes that changed the graph, in order: "unneeded", "padding", "halves", "batch_norm",
  // "layer_norm", "attention", "quantized", "load_time", "chains", "formats", "epilogues", "winograd",
  // "inputs_in_arena", "outputs_at_caller". A plan lists them (Provenance::lowering), so that a reader can make the
  // same graph again.
  std::vector<std::string> passes;
  // Which nodes and tensors of the model `graph` has. nullopt: no pass changed the graph, so all ids are equal.
  std::optional<Origins> origins = std::nullopt;
};

// The options for a machine that runs the kernels of room `kernels`: all passes that save memory or time there.
[[nodiscard]] LowerOptions options_for_kernels(std::shared_ptr<const KernelFormats> machine = nullptr);

// Returns the graph that runs. Errors: those of check_operand_types (invalid), if the options say so, and of
// GraphBuilder (over_limit). O((nodes + edges) log nodes) over all bodies, and the time of KernelFormats::options.
[[nodiscard]] Result<Lowered> lower(const Graph& graph, const LowerOptions& options = {});

// Whether some of the passes ask a machine, so that only an equal machine makes the same graph again.
[[nodiscard]] bool depend_on_machine(const std::vector<std::string>& passes);

// Returns the options that make the graph of a plan again, from Provenance::lowering. Errors: (unsupported) a pass that
// this program does not have; (invalid) passes that are not in their order, or one that is listed twice.
[[nodiscard]] Result<LowerOptions> lower_options(const std::vector<std::string>& passes,
                                                 std::shared_ptr<const KernelFormats> machine = nullptr);

}  // namespace lowtide
