// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lowtide/base/enum_set.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/rewrite.h"
#include "lowtide/target/formats.h"

namespace lowtide {

// The passes of lowering, in the order in which they run.
enum class PassId : std::uint8_t {
  unneeded,
  padding,
  halves,
  batch_norm,
  layer_norm,
  attention,
  quantized,
  load_time,
  integer_chains,
  chains,
  formats,
  epilogues,
  winograd,
  inputs_in_arena,
  outputs_at_caller,
};
using PassSet = EnumSet<PassId>;

// When a pass is on, unless the options say otherwise.
enum class PassUse : std::uint8_t {
  always,    // for every target
  kernels,   // for a graph that the kernels of this machine run
  integers,  // for a described target with integer kernels (Target::has_integer_kernels)
  request,   // only if the caller asks for it
};

enum class PassTrait : std::uint8_t {
  needs_table,     // it changes nothing without PassInput::table
  asks_machine,    // it changes nothing without PassInput::machine, and only an equal machine makes its graph again
  adds_load_time,  // it adds nodes on constants, which run at load if the pass `load_time` is on
  makes_integers,  // it lets operators of a quantized model work on integers
  changes_ports,   // the graph has other inputs, outputs or states than before
};

// What a pass gets besides the graph.
struct PassInput {
  const ConstantTable* table = nullptr;    // LowerOptions::table
  const KernelFormats* machine = nullptr;  // LowerOptions::machine
  std::optional<std::uint32_t> constants;  // LowerOptions::constants
  Graph& load;                             // Lowered::load so far; a pass may add to it
};

// A pass of lowering. Each has a header of its own, which states when the rewrite is sound.
struct Pass {
  PassId id;
  std::string_view name;     // in plan files, options and messages
  std::string_view help;     // what it does: "leaves out copies"
  std::string_view differs;  // how results may differ; empty: they keep every bit
  PassUse use;
  EnumSet<PassTrait> traits;
  // Returns the new graph, or nullopt if the pass changes nothing. Bodies count as parts of their graph.
  Result<std::optional<Rewritten>> (*run)(const Graph& graph, PassInput& input);
};

// All passes, in the order of PassId. Whatever another room says about a pass follows from its row.
[[nodiscard]] std::span<const Pass> all_passes();

// The pass with a name. nullptr: there is none. O(passes).
[[nodiscard]] const Pass* find_pass(std::string_view name);

[[nodiscard]] std::string_view name_of(PassId pass);

// The passes that are on for this use alone. O(passes).
[[nodiscard]] PassSet passes_for(PassUse use);

// The passes for a described target with integer kernels, in addition to those that are always on. O(passes).
[[nodiscard]] PassSet integer_passes();

// Whether some of the passes ask a machine (PassTrait::asks_machine). O(passes).
[[nodiscard]] bool ask_machine(PassSet passes);

}  // namespace lowtide
