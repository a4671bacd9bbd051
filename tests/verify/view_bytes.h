// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide::testing {

struct ByteSource {
  TensorId tensor;
  std::int64_t byte = 0;
  std::size_t operand = 0;  // position of the tensor in Graph::operands: it may stand there more than once
};

// For each byte of output `at` of a node that only moves elements: which byte of which input it is. Computed element by
// element as NumPy would, whether or not the result is contiguous. Returns nullopt if the operator computes, if its
// bounds are not known, or if the sources depend on an extent that is only an upper bound. Supports only elements of
// whole bytes.
[[nodiscard]] std::optional<std::vector<ByteSource>> view_bytes(const Graph& graph, NodeId node, std::size_t at);

// Convert between the row-major index of an element and one index per axis.
[[nodiscard]] std::vector<std::int64_t> split_index(const Shape& shape, std::int64_t element);
[[nodiscard]] std::int64_t join_index(const Shape& shape, const std::vector<std::int64_t>& index);

// The element of an operand of shape `from` that is broadcast to element `element` of a result of shape `to`.
[[nodiscard]] std::int64_t broadcast_source(const Shape& from, const Shape& to, std::int64_t element);

// Whether a node that runs again on the same operands gives the same results. Uses a list of operators. One that is not
// listed may be random, or have a state of its own.
[[nodiscard]] bool gives_the_same_again(const Graph& graph, NodeId node);

[[nodiscard]] std::int64_t bytes_of_element(const Tensor& tensor);

}  // namespace lowtide::testing
