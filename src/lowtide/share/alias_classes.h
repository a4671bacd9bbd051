// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

using AliasClassId = Id<struct AliasClassTag>;

// How the results of a node get their bytes.
enum class StepKind : std::uint8_t {
  compute,  // the node's kernel writes them
  alias,    // nothing runs, because all bytes of the result are bytes of the operands
  copy,     // of a concat: some operands are already in the result, the others are copied, and no kernel runs
};

// Tensors that share one buffer, for one order.
struct AliasClass {
  BufferKind kind = BufferKind::temporary;  // never scratch
  Bytes size;                               // of the buffer, not rounded
  // Steps of the order: from the first write to the last use. What exists before the run is live from step 0.
  Lifespan lifespan;
  bool is_kept = false;  // holds what is needed at the end (Graph::is_needed_at_end) or existed before the run
  // Parts with different lifespans (BufferPart). Each unit of the alignment is live from the first write to the last
  // use of the tensors that have a byte in it. Sizes are multiples of the alignment. Empty if all bytes have one
  // lifespan.
  std::vector<BufferPart> parts = {};
  bool is_captured = false;  // holds a tensor of an outer graph, whose plan has the bytes
};

// The copy of one operand of a concat into the result. Other operands of the concat are already there.
//
//   c = Concat(a, x) with an input x      class of a and c:  |  a  |  x' |      x' is the copy, at offset size(a)
struct OperandCopy {
  NodeId concat;
  std::uint32_t operand = 0;  // position in Graph::operands; a tensor may be several operands of a concat
  TensorId tensor;            // that operand; its size is not 0
  Offset offset;              // of the copy, in the class of the result
};

// Which tensors share bytes. A tensor has one place. Each operand of a concat is in the result or is copied into it.
struct AliasClasses {
  IdVector<AliasClassId, AliasClass> classes;  // by their smallest tensor
  IdVector<TensorId, AliasClassId> class_of;
  IdVector<TensorId, Offset> offset_in_class;
  IdVector<NodeId, StepKind> step_kinds;
  std::vector<OperandCopy> copies;  // by concat and operand, ascending; of the nodes that are StepKind::copy

  // The copies of one node. O(log copies).
  [[nodiscard]] std::span<const OperandCopy> copies_of(NodeId node) const;
};

struct AliasOptions {
  Bytes alignment = Bytes(1);  // sizes are rounded up to it when loads are compared
  bool views = true;           // a view shares the bytes of its input; false: every node computes
  bool in_place = true;        // a kernel may write over an input without a later reader
  bool parts = true;           // parts of a buffer have their own lifespans; false: a buffer is live as a whole
  bool copy_operands = true;   // a concat may copy some operands if others are in place
  bool inputs_live_throughout = false;  // inputs are placed and live throughout (bodies of Loop and Scan)
  std::vector<NodeId> computing = {};   // slices, splits and concats that always run their kernels
  // The alignment for bounds, if a region has a smaller one than the region for which sizes are rounded up.
  std::optional<Bytes> finest_alignment = std::nullopt;

  [[nodiscard]] Bytes bound_alignment() const { return finest_alignment.value_or(alignment); }
};

// Returns the kernels without what the options forbid: in-place pairs, or views. Code that counts bytes by these
// kernels, such as bounds and searches of orders, then follows the options.
[[nodiscard]] ChosenKernels permitted(ChosenKernels kernels, const AliasOptions& options);
[[nodiscard]] Kernel permitted(Kernel kernel, const AliasOptions& options);

// Decides for one order which tensors share bytes, to lower the peak. Compilers call this bufferization.
//   1. Views of a whole tensor are always joined. This never raises a load, because no second copy is needed.
//   2. Slices, splits and concats are joined if that does not raise the peak. Without parts, a slice keeps its whole
//      tensor live, and the buffer of a concat exists from its first operand on. Three ways are compared: to join all
//      of them, one by one against the load profile, or none. The lowest peak wins. In a tie, the first of
//      the three wins, because it copies the fewest bytes.
//   3. Along the order, the output of a kernel takes over the bytes of an input that it may overwrite. No tensor in
//      these bytes may be used later, and no other input of the node may be in them. Without parts, they must be the
//      whole buffer.
// Before these steps, the next content of a state that no node reads takes the state's bytes, outside the arena, unless
// the peak is lower if it does not. A tensor moves there with it only if its bytes are written once. The next content
// of other states is copied at the end.
//
// Some tensors are never joined. A tensor that is needed at the end never shares a buffer with an input, a constant or
// a state. Two tensors that are needed at the end share a buffer only if they share no byte of it, such as the outputs
// of a split. A tensor that a node writes never shares bytes that must stay unchanged.
//
// A concat is joined operand by operand. An operand is in place if the tensors that share its bytes can move into the
// result. It must not be an input, constant or state. It must have all bytes of these tensors, and no other operand may
// be one of them. The others are copied right before the position of the concat in the order. Both they and the whole
// result are live there. So a concat that copies some operands never needs more than a concat whose kernel runs, and
// step 2 treats both alike. If no operand is in place, the kernel computes. If some concats can be joined only with
// copies, step 2 also compares ways without copies, because an operand can be in only one concat.
//
// `order` is a topological order of all nodes. O((nodes + edges) log nodes).
[[nodiscard]] AliasClasses alias_classes(const Graph& graph, const ChosenKernels& kernels,
                                         const std::vector<NodeId>& order, const AliasOptions& options = {});

// Calls function(size, lifespan) for each part, or once for a class without parts. Sizes are rounded up.
template <typename Function>
void for_each_part(const AliasClass& alias, Bytes alignment, Function function) {
  if (alias.parts.empty()) function(round_up(alias.size, alignment), alias.lifespan);
  for (const BufferPart& part : alias.parts) function(part.size, part.lifespan);
}

// Returns the scratch of a node's step, not rounded. It is 0 if no kernel runs.
[[nodiscard]] inline Bytes scratch_of(const AliasClasses& aliases, const ChosenKernels& kernels, NodeId node) {
  return aliases.step_kinds[node] == StepKind::compute ? kernels[node].scratch : Bytes(0);
}

// Whether a buffer of this kind occupies bytes in the arena.
[[nodiscard]] constexpr bool is_placed(BufferKind kind) {
  return kind == BufferKind::output || kind == BufferKind::temporary || kind == BufferKind::scratch;
}

// Whether this class occupies bytes in the arena of this graph.
[[nodiscard]] constexpr bool is_in_arena(const AliasClass& alias, const AliasOptions& options) {
  return is_placed(alias.kind) ||
         (alias.kind == BufferKind::input && options.inputs_live_throughout && !alias.is_captured);
}

}  // namespace lowtide
