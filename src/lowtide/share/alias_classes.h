// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/analysis/view_table.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

using AliasClassId = Id<struct AliasClassTag>;

// How the results of a node get their bytes.
enum class StepKind : std::uint8_t {
  compute,  // the node's kernel writes them
  alias,    // nothing runs: all bytes are bytes of the operands already
  copy,     // of a concat: some operands lie in the result already, the others are copied there, and no kernel runs
};

// Tensors that share one buffer, for one order.
struct AliasClass {
  BufferKind kind = BufferKind::temporary;  // never scratch
  Bytes size;                               // of the buffer, not rounded
  // Steps of the order: from the first write, or step 0 for what is there before the run, to the last use.
  Lifespan lifespan;
  bool is_kept = false;  // holds what is needed at the end of the run (Graph::is_needed_at_end), or was there before it
  // If some bytes live shorter than others: each unit of the alignment lives from the first write to the last use of
  // the tensors that have a byte in it (BufferPart). Sizes are multiples of the alignment. Empty: all bytes live alike.
  std::vector<BufferPart> parts = {};
  bool is_captured = false;  // holds a tensor of a graph around this one, whose bytes are there and not here
};

// The copy of one operand of a concat into the result. Other operands of the same concat lie there already.
//
//   c = Concat(a, x) with an input x      class of a and c:  |  a  |  x' |      x' is the copy, at offset size(a)
struct PartCopy {
  NodeId concat;
  std::uint32_t operand = 0;  // position in Graph::operands; a concat may have one tensor as several operands
  TensorId tensor;            // that operand; its size is not 0
  Offset offset;              // of the copy, in the class of the result
};

// Which tensors share bytes: a tensor has one place, and each operand of a concat lies in the result or is copied
// there.
struct AliasClasses {
  IdVector<AliasClassId, AliasClass> classes;  // by their smallest tensor
  IdVector<TensorId, AliasClassId> class_of;
  IdVector<TensorId, Offset> offset_in_class;
  IdVector<NodeId, StepKind> step_kinds;
  std::vector<PartCopy> copies;  // by concat and operand, ascending; of the nodes that are StepKind::copy

  // The copies of one node. O(log copies).
  [[nodiscard]] std::span<const PartCopy> copies_of(NodeId node) const;
};

struct AliasOptions {
  Bytes alignment = Bytes(1);           // every comparison of loads rounds sizes up to it
  bool views = true;                    // the output of a view is bytes of its input; false: every node computes
  bool in_place = true;                 // a kernel may write over an input that dies there
  bool parts = true;                    // bytes of a buffer live as they are needed; false: all as long as one of them
  bool copy_parts = true;               // a concat may copy some operands and have others in place
  bool inputs_live_throughout = false;  // own inputs are placed and kept throughout (bodies of Loop and Scan)
  std::vector<NodeId> computing = {};   // slices, splits and concats that compute, whatever that does to the load
  // What bounds round up to, if some region is finer than the one that sizes are rounded up for.
  std::optional<Bytes> finest_alignment = std::nullopt;

  [[nodiscard]] Bytes bound_alignment() const { return finest_alignment.value_or(alignment); }
};

// The kernels without what the options forbid: without pairs to write in place, or without views. What counts bytes by
// these kernels then follows the options too, such as bounds and searches of orders.
[[nodiscard]] ChosenKernels permitted(ChosenKernels kernels, const AliasOptions& options);

// Decides, for one order, which tensors share bytes, so that the peak load is low. The field says bufferization.
//   1. Views of a whole tensor are always joined. That never raises a load, because one of two copies goes away.
//   2. Slices, splits and concats are joined if that does not raise the peak. Without parts, a slice keeps its whole
//      tensor alive, and the buffer of a concat exists from its first operand on. Compared are: all, one by one against
//      the load profile, and none. The lowest peak wins; of equals the first in this list, because it copies the fewest
//      bytes.
//   3. Along the order, a kernel's output takes over the bytes of an input that it may overwrite, if no tensor in these
//      bytes is used later and no other input of the node lies in them. Without parts these must be all of the buffer.
// Never joined: what is needed at the end with an input, constant or state, or with something else that is needed at
// the end, except where one node has both and they share no byte (the outputs of a split); anything written with what
// must stay untouched.
//
// A concat is joined operand by operand. An operand is in place if its set of tensors is free to move there: it is not
// an input, constant or state, it is all of its set, and no other operand has taken the set. The others are copied
// right before the concat's place in the order, where they are still live and the whole result is live, too. So a
// concat that copies some operands never needs more than one that computes, and step 2 decides on it like on any other.
// Without an operand in place, the kernel computes. If some concats can only be joined in this way, step 2 compares
// them without copies as well, because an operand in one concat cannot be in another.
//
// `order` is a topological order of all nodes. O((nodes + edges) log nodes).
[[nodiscard]] AliasClasses alias_classes(const Graph& graph, const ChosenKernels& kernels,
                                         const std::vector<NodeId>& order, const AliasOptions& options = {});

// The same with the view table of the graph and the kernels, for callers that decide several times.
[[nodiscard]] AliasClasses alias_classes(const Graph& graph, const ChosenKernels& kernels, const ViewTable& views,
                                         const std::vector<NodeId>& order, const AliasOptions& options = {});

// Calls function(size, lifespan) for each part, or once for a class without parts, rounded up.
template <typename Function>
void for_each_part(const AliasClass& alias, Bytes alignment, Function function) {
  if (alias.parts.empty()) function(round_up(alias.size, alignment), alias.lifespan);
  for (const BufferPart& part : alias.parts) function(part.size, part.lifespan);
}

// What a node's step needs besides what it reads and writes, not rounded. Only a kernel has scratch.
[[nodiscard]] inline Bytes scratch_of(const AliasClasses& aliases, const ChosenKernels& kernels, NodeId node) {
  return aliases.step_kinds[node] == StepKind::compute ? kernels[node].scratch : Bytes(0);
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
