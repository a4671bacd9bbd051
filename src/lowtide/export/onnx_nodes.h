// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/base/result.h"

namespace lowtide {

// A node of the graph of an ONNX file, without those of bodies and functions. Names are those of the file.
struct OnnxFileNode {
  Interval<std::size_t> field;          // its bytes in the file, with the tag of the field
  std::vector<std::string_view> reads;  // inputs, and all names that its bodies read; empty names are left out
  std::vector<std::string_view> writes;
};

// The nodes of an ONNX file in the order of the file. The names are parts of `file`, which must outlive the result.
// Reads the wire format of protobuf and no content of tensors. Errors: malformed, with the byte; unsupported, if the
// graph is divided into several fields. O(fields).
[[nodiscard]] Result<std::vector<OnnxFileNode>> read_onnx_nodes(std::string_view file);

// Completes an order of some nodes, given by their positions in `nodes`. The others come as late as possible, but
// before their first reader; those without a reader come at the end. What a node reads always comes before it, even if
// `wanted` says otherwise. So the result is an order of all nodes, if the file has one. Requires: no position twice.
// Errors: invalid, if nodes read each other in a cycle. O(nodes + reads).
[[nodiscard]] Result<std::vector<std::size_t>> complete_order(std::span<const OnnxFileNode> nodes,
                                                              std::span<const std::size_t> wanted);

// The file with its nodes in this order. All other bytes stay as they are, and so does its length. The pieces are parts
// of `file`. Requires: `order` has each position of `nodes` once, and `nodes` are those of `file`. O(nodes).
[[nodiscard]] std::vector<std::string_view> with_node_order(std::string_view file, std::span<const OnnxFileNode> nodes,
                                                            std::span<const std::size_t> order);

}  // namespace lowtide
