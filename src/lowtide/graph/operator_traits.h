// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace lowtide {

// How the bytes of a node's outputs relate to the bytes of its inputs when both are dense and row-major.
// A candidate only: the soundness condition of each kind is checked where it is used (analysis/views.h for
// planning; verify has its own).
enum class ViewKind : std::uint8_t {
  none,
  whole,   // output 0 is input 0 in another shape: Reshape, Squeeze, Unsqueeze, Flatten, Identity, Dropout in inference
  slice,   // output 0 may be a contiguous part of input 0: Slice
  split,   // the outputs may be consecutive contiguous parts of input 0: Split
  concat,  // the inputs may be consecutive contiguous parts of output 0: Concat
  expand,  // output 0 is input 0 where nothing is repeated: Expand, Tile
};

// All of what it is a view of, or a part.
[[nodiscard]] constexpr bool is_whole_view(ViewKind kind) {
  return kind == ViewKind::whole || kind == ViewKind::expand;
}
[[nodiscard]] constexpr bool is_partial_view(ViewKind kind) { return kind != ViewKind::none && !is_whole_view(kind); }

// Which inputs a kernel that works element by element (or row by row, reading a row before writing it) may
// overwrite with output 0. A permission by operator; the sizes must agree and the input must die there.
enum class InPlaceKind : std::uint8_t {
  none,
  first_input,  // input 0 only: Relu, BatchNormalization, Softmax
  any_input,    // any input with the shape and element size of output 0: Add, Mul, Where, Sum
};

// What is known of an operator by its name alone. An unknown operator has the defaults, the safe side:
// no view, nothing in place, not pure (so never recomputed, removed or folded).
struct OperatorTraits {
  ViewKind view = ViewKind::none;
  InPlaceKind in_place = InPlaceKind::none;
  bool is_known = false;
  bool is_pure = false;               // same inputs, same outputs; may be computed again
  bool is_random = false;             // outputs differ from run to run: never computed twice within one
  bool is_stateful = false;           // reads or writes something beyond its tensors
  bool has_exclusive_bodies = false;  // only one of its bodies runs, so they may share bytes: If
};

// Traits of an ONNX operator. `domain` "" and "ai.onnx" are the same. O(log n) in the table; a reference to a
// static table.
[[nodiscard]] const OperatorTraits& operator_traits(std::string_view domain, std::string_view type);

}  // namespace lowtide
