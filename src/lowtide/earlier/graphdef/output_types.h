// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"

namespace lowtide {

// What is known of an output of a node of a GraphDef.
struct OutputType {
  std::int64_t data_type = 0;      // DataType of TensorFlow, without the mark of a reference; 0: unknown
  std::int64_t element_bytes = 0;  // 0: unknown, or not a number
  std::optional<std::vector<std::int64_t>> extents = {};  // nullopt: the rank is unknown; -1: the extent is
  // The elements of a small tensor of integers that follows from constants and shapes, in row-major order.
  std::optional<std::vector<std::int64_t>> content = {};
};

// The outputs of each node that are read, and at least the first one, in the order of the nodes. Nodes that return a
// variable have its type. A tensor also has the shape of others if an operator says that they have one shape, such as
// the operands of AddN. `unknown` are nodes of whose first output the shape is not taken from the file. Errors: those
// of graph_of_graphdef, except unresolved. O(size of the file, log), at most 8 times.
[[nodiscard]] Result<std::vector<std::vector<OutputType>>> infer_output_types(
    const ProtoMessage& graphdef, const std::vector<std::string>& unknown = {});

// Whether a node with this operator gives the same results each time, and does nothing else: operators with a rule for
// their shapes, except random ones, checks and those of variables.
[[nodiscard]] bool is_pure_operator(std::string_view op);

// Whether two shapes cannot be one: another rank, or another known extent on some axis. -1: not known.
[[nodiscard]] bool extents_contradict(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b);

// "64x64"; "?x10" with an extent that is not known; "a scalar".
[[nodiscard]] std::string shown_extents(const std::vector<std::int64_t>& extents);

// How many inputs of an operator, from the first one on, are variables that it writes.
[[nodiscard]] std::size_t count_written_inputs(std::string_view op);

// Whether output 0 of an operator has the memory of input 0: Identity, Reshape.
[[nodiscard]] bool shares_memory_of_input(std::string_view op);

}  // namespace lowtide
