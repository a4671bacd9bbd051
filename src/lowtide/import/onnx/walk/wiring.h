// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Who makes a name in its graph.
enum class Source : std::uint8_t {
  outside,  // nobody here: a graph around must have it
  input,
  initializer,  // perhaps listed as an input too, whose standard value it then is
  sparse_initializer,
  node,
};

// The names of one graph as dense numbers, who makes and reads them, and an order of the nodes in which every name is
// made before it is read. A node reads its inputs and what its bodies take from outside themselves.
struct Wiring {
  static constexpr std::uint32_t kLeftOut = 0xFFFFFFFF;

  struct Name {
    std::string_view text;  // in the graph's messages, which must stay
    Source source = Source::outside;
    std::uint32_t index = 0;  // of the node, input or initializer that makes it
    std::uint32_t reads = 0;  // by nodes, once for each place; outputs of the graph count as one that stays
  };

  std::vector<Name> names;
  std::unordered_map<std::string_view, std::uint32_t> index_of;
  std::vector<std::uint32_t> order;  // of nodes
  bool was_sorted = true;            // the order is that of the file

  // Names that the node reads (kLeftOut for an empty one): its inputs, then those of its bodies, each once.
  [[nodiscard]] std::span<const std::uint32_t> inputs(std::uint32_t node) const {
    return slice(input_begin_, input_end_, node);
  }
  [[nodiscard]] std::span<const std::uint32_t> captured(std::uint32_t node) const {
    return slice(input_end_, pool_end_, node);
  }
  [[nodiscard]] std::span<const std::uint32_t> outputs(std::uint32_t node) const {
    return slice(pool_end_, output_end_, node);
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;

  // Errors (invalid): a name that is made twice, a cycle (one of its nodes is named); (over_limit) a name above
  // limits::kMaxNameBytes. `free_names` gives the names that a body takes from outside.
  // O(names + reads), and O(n log n) where the nodes have to be sorted; no recursion.
  static Result<Wiring> make(const onnx::GraphProto& graph, class FreeNames& free_names);

 private:
  friend class WiringMaker;
  [[nodiscard]] std::span<const std::uint32_t> slice(const std::vector<std::uint32_t>& begin,
                                                     const std::vector<std::uint32_t>& end, std::uint32_t node) const {
    return {pool_.data() + begin[node], pool_.data() + end[node]};
  }

  std::vector<std::uint32_t> pool_;
  std::vector<std::uint32_t> input_begin_;  // a node's part of the pool: inputs, captured, outputs
  std::vector<std::uint32_t> input_end_;
  std::vector<std::uint32_t> pool_end_;
  std::vector<std::uint32_t> output_end_;
};

// The names that a body, or a body inside it, reads and does not make, in the order of their first use. Kept for each
// body, since bodies are asked for again and again.
class FreeNames {
 public:
  // Recursion over bodies, whose nesting is bounded.
  const std::vector<std::string_view>& of(const onnx::GraphProto& body);

 private:
  std::unordered_map<const onnx::GraphProto*, std::vector<std::string_view>> known_;
};

}  // namespace lowtide::import_internal
