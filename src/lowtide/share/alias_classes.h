// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

using AliasClassId = Id<struct AliasClassTag>;

// How the results of a node come to be in their place.
enum class StepKind : std::uint8_t {
  compute,  // the node's kernel runs
  alias,    // nothing runs: every output is where its bytes already are (views, concat of slices)
};

// Tensors that will share one buffer, for one order.
struct AliasClass {
  BufferKind kind = BufferKind::temporary;  // never scratch
  Bytes size;                               // of the buffer, not rounded
  Lifespan lifespan;     // steps of the order; from the first write (0 for what is there before) to the last use
  bool is_kept = false;  // holds what is needed at the end of the run (Graph::is_needed_at_end), or was there before it
  // Where some bytes live shorter than others (BufferPart), else none: each unit of the alignment lives from the first
  // write to the last use of the tensors that have a byte in it. Sizes are multiples of the alignment.
  std::vector<BufferPart> parts = {};
  bool is_captured = false;  // holds a tensor of a graph around this one: its bytes are there, not here
};

struct AliasClasses {
  IdVector<AliasClassId, AliasClass> classes;  // by their smallest tensor
  IdVector<TensorId, AliasClassId> class_of;
  IdVector<TensorId, Offset> offset_in_class;
  IdVector<NodeId, StepKind> step_kinds;
};

struct AliasOptions {
  Bytes alignment = Bytes(1);           // sizes count rounded up to it in every comparison of loads
  bool views = true;                    // output of a view is its input's bytes; off: every node computes
  bool in_place = true;                 // a kernel may write over an input that dies there
  bool parts = true;                    // bytes of a buffer live as they are needed; off: all as long as one of them
  bool inputs_live_throughout = false;  // own inputs are placed and kept throughout (bodies of Loop and Scan)
  std::vector<NodeId> copies = {};      // slices, splits and concats that compute, whatever that does to the load
  // What bounds round up to, where some region is finer than the one that sizes are rounded up for.
  std::optional<Bytes> finest_alignment = std::nullopt;

  [[nodiscard]] Bytes bound_alignment() const { return finest_alignment.value_or(alignment); }
};

// The kernels without what the options forbid: no pairs to write in place, or no views. Everything that counts bytes by
// them then knows the rule too, bounds and searches of orders included.
[[nodiscard]] ChosenKernels permitted(ChosenKernels kernels, const AliasOptions& options);

// Decides, for one order, which tensors share bytes, so that the largest load is low:
//   1. views of a whole tensor are joined always: that never raises a load, since one of the two copies goes away;
//   2. slices, splits and concats are joined where that does not lift the largest load (without parts a slice keeps its
//      whole tensor alive, and a concat buffer exists from its first part on): none, all, and a choice one by one
//      against the load profile are compared, the lowest load wins, and among equals the one with the fewest copies;
//   3. along the order, a kernel's output takes over the bytes of an input that it may overwrite, if no alias of these
//      bytes is used later, and no other input of the node lies in them. Without parts these must be all of the buffer.
// Never joined: what is needed at the end with an input, constant or state, or with something else that is needed at the
// end, except where one node has both and they share no byte (the parts of a split); anything written with what must stay
// untouched. `order` is a topological order of
// all nodes. O((nodes + edges) log nodes).
[[nodiscard]] AliasClasses alias_classes(const Graph& graph, const ChosenKernels& kernels,
                                         const std::vector<NodeId>& order, const AliasOptions& options = {});

// Calls function(size, lifespan) for each part; for a class without, once for all of it, rounded up.
template <typename Function>
void for_each_part(const AliasClass& alias, Bytes alignment, Function function) {
  if (alias.parts.empty()) function(round_up(alias.size, alignment), alias.lifespan);
  for (const BufferPart& part : alias.parts) function(part.size, part.lifespan);
}

// What a node's step needs beside what it reads and writes, not rounded: an alias runs no kernel.
[[nodiscard]] inline Bytes scratch_of(const AliasClasses& aliases, const ChosenKernels& kernels, NodeId node) {
  return aliases.step_kinds[node] == StepKind::alias ? Bytes(0) : kernels[node].scratch;
}

// Whether a buffer of this kind takes bytes in the arena.
[[nodiscard]] constexpr bool is_placed(BufferKind kind) {
  return kind == BufferKind::output || kind == BufferKind::temporary || kind == BufferKind::scratch;
}

// Whether this class takes bytes in the arena of this graph.
[[nodiscard]] constexpr bool takes_room(const AliasClass& alias, const AliasOptions& options) {
  return is_placed(alias.kind) ||
         (alias.kind == BufferKind::input && options.inputs_live_throughout && !alias.is_captured);
}

}  // namespace lowtide
