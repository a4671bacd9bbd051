// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// Whether the elements are floating-point numbers.
[[nodiscard]] constexpr bool is_real(DType dtype) { return dtype <= DType::f4e2m1; }

// The element types that an operator of the ONNX standard asks of its inputs and outputs: one letter each, then ">",
// then the outputs: "Tl>T" of Expand.
//
//   T, U, V   any type, but one type for all that have this letter
//   l, n, i   i64; i32; i64 or i32
//   f, r      f32; any type of floating-point numbers
//   b         bool
//   ?         any type
//   *         behind a letter: any number of these
//
// nullopt: Lowtide has no kernel for the operator, and its types are not known here. Source: the type constraints of
// all opsets; where the first one differs from the newest, the letter is `?`. O(log operators).
[[nodiscard]] std::optional<std::string_view> operand_types(std::string_view type);

// Why the types of a node contradict each other, or an empty text: "input 'w' is i64, and has to have the type of input
// 'x', which is f32". A node of another domain, or whose types are not known, has no contradiction.
// O(inputs + outputs + log operators).
[[nodiscard]] std::string contradiction_of_types(const Graph& graph, NodeId node);

// Errors: (invalid) the contradiction of the first node that has one, among the nodes of the graph and of its bodies.
// O(nodes + edges), times log operators. Recursion only over bodies.
[[nodiscard]] Result<void> check_operand_types(const Graph& graph);

}  // namespace lowtide
