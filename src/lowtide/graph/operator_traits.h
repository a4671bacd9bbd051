// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace lowtide {

// How the bytes of a node's outputs may relate to the bytes of its inputs if both are dense and row-major. This follows
// from the operator alone. Whether a node is a view also depends on its attributes and shapes. The conditions of each
// kind are checked twice: analysis/views.h checks them for planning, and `verify` checks them independently.
enum class ViewKind : std::uint8_t {
  none,
  whole,      // output 0 is input 0 with another shape: Reshape, Squeeze, Flatten, Identity, Dropout in inference
  slice,      // output 0 may be a contiguous part of input 0: Slice
  split,      // the outputs may be consecutive contiguous parts of input 0: Split
  concat,     // the inputs may be consecutive contiguous parts of output 0: Concat
  expand,     // output 0 is input 0 if nothing is repeated: Expand, Tile
  transpose,  // output 0 is input 0 if only axes of extent 1 move: Transpose
};

// Whether the view has all bytes of its source, or only a part of them.
[[nodiscard]] constexpr bool is_whole_view(ViewKind kind) {
  return kind == ViewKind::whole || kind == ViewKind::expand || kind == ViewKind::transpose;
}
[[nodiscard]] constexpr bool is_partial_view(ViewKind kind) { return kind != ViewKind::none && !is_whole_view(kind); }

// Which inputs a kernel may overwrite with output 0. The kernel works element by element, or reads a row before it
// writes the row. A product reads an element for its epilogue before it writes the result there. This permission
// follows from the operator alone. In addition, the sizes must be equal and no later step may read the input.
enum class InPlaceKind : std::uint8_t {
  none,
  first_input,  // input 0 only: Relu, BatchNormalization, Softmax
  any_input,    // any input with the shape, except for leading extents of 1, and the element size of output 0: Add, Sum
  epilogue,     // inputs that only an epilogue reads (graph/epilogue.h), with the shape of output 0: lowtide::Conv
};

// What follows from the name of an operator. An unknown operator has the defaults, which are safe. It is not a view and
// overwrites no input. It is not pure, so it is never recomputed, removed or folded. It may sum products.
struct OperatorTraits {
  ViewKind view = ViewKind::none;
  InPlaceKind in_place = InPlaceKind::none;
  bool is_known = false;              // off: it may run a whole graph, whose memory is unknown
  bool is_pure = false;               // equal inputs give equal outputs, so it may be computed again
  bool may_sum_products = true;       // off: it has no multiply-accumulate operations (multiply_accumulates.h)
  bool is_random = false;             // outputs differ between executions, so it runs once
  bool is_stateful = false;           // reads or writes something that is not one of its tensors
  bool has_exclusive_bodies = false;  // only one of its bodies runs, so they may share bytes: If
};

// Returns the traits of an operator of ONNX, of ONNX Runtime, of Caffe2 or of a lowered graph. The domains "" and
// "ai.onnx" mean the same. O(log operators). The reference is valid until the program ends.
[[nodiscard]] const OperatorTraits& operator_traits(std::string_view domain, std::string_view type);

}  // namespace lowtide
