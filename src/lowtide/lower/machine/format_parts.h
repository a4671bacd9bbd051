// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/base/flags.h"
#include "lowtide/graph/graph.h"
#include "lowtide/target/formats.h"

namespace lowtide::lower_internal {

// What a node has to do with formats.
struct FormatPart {
  enum class Kind : std::uint8_t {
    plain,    // all tensors are plain
    decides,  // a convolution or a matrix product with packed weights: `option` says what it reads and writes
    follows,  // plain or in blocks, as `is_blocked` says
    moves,    // a Transpose between blocks of channels and channels as the last axis, as `option` says
  } kind = Kind::plain;
  std::optional<FormatOption> option;  // of a node that decides or moves
  bool is_blocked = false;             // of a node that follows
  // Off: all operands with more than one element are in blocks. On: the first one alone, as of a pool or a norm. Such a
  // node becomes an operator of the domain "lowtide".
  bool has_one_image = false;
  bool is_padded_concat = false;  // a Concat, some of whose operands do not fill their blocks
};

// The formats of a graph: the choice for each node.
struct FormatParts {
  Format blocked = Format::nchw16c;  // the only format besides plain
  IdVector<NodeId, FormatPart> nodes;

  // The format of a tensor that a node reads. Constants beside the weights of a convolution are read as other operands.
  [[nodiscard]] Format read_by(const Graph& graph, NodeId node, TensorId tensor) const;
  // The format of the results of a node.
  [[nodiscard]] Format written_by(NodeId node) const;
};

// Chooses the formats of all nodes. The tensors in `stay_plain` are captured, and stay as they are for other graphs, so
// no matrix product packs them. Complexity: see choose_formats().
[[nodiscard]] FormatParts choose_parts(const Graph& graph, const KernelFormats& machine,
                                       const Flags<TensorId>& stay_plain);

// Whether all that a tensor is for, in the graph and in bodies, is to be the matrix of products that can read it
// packed. O(readers), and the time of KernelFormats::options for each. Recursion only over bodies.
[[nodiscard]] bool is_only_a_matrix(const Graph& graph, TensorId tensor, const KernelFormats& machine);

// Whether a tensor has one element, so that it is the same in every format.
[[nodiscard]] bool has_one_element(const Tensor& tensor);

}  // namespace lowtide::lower_internal
