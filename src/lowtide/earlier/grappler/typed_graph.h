// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/graphdef/output_types.h"
#include "lowtide/earlier/grappler/node_links.h"
#include "lowtide/earlier/grappler/op_cost.h"

namespace lowtide::grappler_internal {

// Nodes with their links and the types of their outputs. Outputs that no node reads are there too, as far as the
// operator says how many it has.
struct TypedGraph {
  const std::vector<DefNode>& nodes;
  NodeLinks links;
  std::vector<std::vector<OutputType>> outputs;

  [[nodiscard]] const OutputType& type_of(NodeIndex node, std::int64_t port) const;
  [[nodiscard]] CostedNode costed(NodeIndex node) const;
};

// `unknown` are nodes whose shape is not taken from the file. The result is valid as long as the nodes do not change.
// Errors: those of link_nodes and infer_output_types. O(nodes + inputs, log).
[[nodiscard]] Result<TypedGraph> type_nodes(const std::vector<DefNode>& nodes,
                                            const std::vector<std::string>& unknown = {});

// Which nodes some nodes need, with those themselves, by index.
[[nodiscard]] std::vector<bool> needed_nodes(const TypedGraph& graph, const std::vector<NodeIndex>& from);

// Variables and constants.
[[nodiscard]] bool is_persistent(const DefNode& node);

// Whether output 0 is a reference to a variable, and whether an input takes one.
[[nodiscard]] bool gives_reference(const DefNode& node);
[[nodiscard]] bool takes_reference(const DefNode& node, std::size_t input);

}  // namespace lowtide::grappler_internal
