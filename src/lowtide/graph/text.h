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

// The text form of a graph, for tests, bug reports and human readers:
//
//   graph "tiny" {
//     input x : f32[1,3,8,8]
//     constant w : f32[4,3,3,3]
//     constant axes : i64[2] = [2, 3]             # content known before the run
//     constant w2 : f32[4] data 3                 # its bytes are entry 3 of the table of constants
//     y = Conv(x, w) "conv1" {pads = [1, 1, 1, 1]} : f32[1,4,8,8]
//     m, _ = MaxPool(y, _) : f32[1,4,4,4]         # `_`: an omitted optional input or output
//     s = com.example::Scale(m, axes) after (y) : f32[1,4,4,4]
//     output s
//   }
//
// docs/graph-text-form.md is the reference. Tensors are numbered in the order of their declarations, and nodes in the
// order of their lines. So a plan of a graph is also a plan of the graph that is read from its text.

// Reads one graph. Messages begin with `source_name`: "tiny.graph:3:12: expected ..., found ...".
// Errors: (malformed) the text does not have this form; (invalid) an unknown or repeated name, or a graph that
// GraphBuilder refuses; (over_limit) a text above limits::kMaxFileBytes, bodies deeper than limits::kMaxBodyNesting,
// ranks or sizes. O(n log n) in the length of the text. Recursion only over bodies.
[[nodiscard]] Result<Graph> parse_graph(std::string_view text, std::string source_name);

// Returns a text from which parse_graph reads an equal graph: the same ids and names, and bit-identical attributes. It
// ends in a newline.
[[nodiscard]] std::string print_graph(const Graph& graph);

// A dtype and a shape: "f32[1,3,<=100]".
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};
[[nodiscard]] std::string print_tensor_type(DType dtype, const Shape& shape);
// Returns nullopt if the text is not a tensor type, or if its rank is above limits::kMaxRank.
[[nodiscard]] std::optional<TensorType> parse_tensor_type(std::string_view text);

}  // namespace lowtide
