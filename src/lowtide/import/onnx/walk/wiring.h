// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// What produces a name in its graph.
enum class Source : std::uint8_t {
  outside,  // nothing in this graph; an outer graph must produce the name
  input,
  initializer,  // may also be listed as an input, and is then the default value of the input
  sparse_initializer,
  node,
};

// The names of one graph as dense numbers, their producers and readers, and an order of the nodes in which every name
// is produced before it is read. A node reads its inputs and the names that its bodies capture.
struct Wiring {
  static constexpr std::uint32_t kLeftOut = 0xFFFFFFFF;

  struct Name {
    std::string_view text;  // points into the GraphProto, which must outlive this
    Source source = Source::outside;
    std::uint32_t index = 0;  // of the node, input or initializer that produces the name
    // number of times that nodes read the name, plus one for each time that it is an output of the graph
    std::uint32_t reads = 0;
  };

  std::vector<Name> names;
  std::unordered_map<std::string_view, std::uint32_t> index_of;
  std::vector<std::uint32_t> order;  // of nodes
  bool was_sorted = true;            // whether the order is that of the file

  // The names of the node's inputs. kLeftOut stands for an empty name.
  [[nodiscard]] std::span<const std::uint32_t> inputs(std::uint32_t node) const {
    return slice(input_begin_, input_end_, node);
  }
  // The names that the node's bodies capture, each once.
  [[nodiscard]] std::span<const std::uint32_t> captured(std::uint32_t node) const {
    return slice(input_end_, pool_end_, node);
  }
  [[nodiscard]] std::span<const std::uint32_t> outputs(std::uint32_t node) const {
    return slice(pool_end_, output_end_, node);
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;

  // `free_names` gives the names that a body captures. Errors: a name that is produced twice, an input, initializer or
  // output without a name, or a cycle, with one of its nodes (invalid); a name longer than limits::kMaxNameBytes
  // (over_limit). O(names + reads), and O(n log n) for n nodes that must be sorted. No recursion.
  static Result<Wiring> make(const onnx::GraphProto& graph, class FreeNames& free_names);

 private:
  friend class WiringMaker;
  [[nodiscard]] std::span<const std::uint32_t> slice(const std::vector<std::uint32_t>& begin,
                                                     const std::vector<std::uint32_t>& end, std::uint32_t node) const {
    return {pool_.data() + begin[node], pool_.data() + end[node]};
  }

  std::vector<std::uint32_t> pool_;
  std::vector<std::uint32_t> input_begin_;  // the ranges of a node in the pool: inputs, captured names, outputs
  std::vector<std::uint32_t> input_end_;
  std::vector<std::uint32_t> pool_end_;
  std::vector<std::uint32_t> output_end_;
};

// The names that a body, or a body inside it, reads but does not produce, in the order of their first use. They are
// stored per body, because they are needed repeatedly.
class FreeNames {
 public:
  // Recurses over bodies, whose nesting is limited.
  const std::vector<std::string_view>& of(const onnx::GraphProto& body);

 private:
  std::unordered_map<const onnx::GraphProto*, std::vector<std::string_view>> known_;
};

}  // namespace lowtide::import_internal
