// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/graph/dtype.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/shape.h"

namespace lowtide {

// The text form of a graph, for tests, for bug reports, and for reading by eye:
//
//   graph "tiny" {
//     input x : f32[1,3,8,8]
//     constant w : f32[4,3,3,3]
//     constant axes : i64[2] = [2, 3]             # content known before the run
//     y = Conv(x, w) "conv1" {pads = [1, 1, 1, 1]} : f32[1,4,8,8]
//     m, _ = MaxPool(y, _) : f32[1,4,4,4]         # `_`: an optional input or output left out
//     s = com.example::Scale(m, axes) after (y) : f32[1,4,4,4]
//     output s
//   }
//
// docs/graph-text-form.md is the reference. Tensors are numbered in the order of their declarations and nodes in
// the order of their lines, so a plan of a graph fits the graph that is read back from its text.

// Reads one graph. `source_name` stands in messages: "tiny.graph:3:12: expected ..., found ...".
// Errors (malformed): not this form; (invalid): an unknown or repeated name, or what GraphBuilder refuses;
// (over_limit): a text above limits::kMaxFileBytes, bodies deeper than limits::kMaxBodyNesting, ranks, sizes.
// O(length of the text); recursion over bodies only.
[[nodiscard]] Result<Graph> parse_graph(std::string_view text, std::string source_name);

// Writes a graph so that `parse_graph` gives it back: same ids, names, attributes to the last bit. Ends in a newline.
[[nodiscard]] std::string print_graph(const Graph& graph);

// Element type and extents: "f32[1,3,<=100]".
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};
[[nodiscard]] std::string print_tensor_type(DType dtype, const Shape& shape);
// Nothing if the text is anything else, or the rank is above limits::kMaxRank.
[[nodiscard]] std::optional<TensorType> parse_tensor_type(std::string_view text);

}  // namespace lowtide
