// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/node_view.h"
#include "lowtide/earlier/graphdef/op_kinds.h"
#include "lowtide/earlier/graphdef/op_rules.h"
#include "lowtide/graph/text.h"

namespace lowtide::graphdef_internal {

struct WalkedNode {
  NodeView view;
  NodeKind kind = NodeKind::ordinary;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> inputs;  // node and port, without control inputs
  std::vector<std::uint32_t> controls;
  std::vector<KnownTensor> outputs;
  std::vector<bool> is_read;                                              // by output
  std::optional<std::pair<std::uint32_t, std::uint32_t>> state;           // the variable that output 0 is
  std::optional<std::vector<std::optional<TensorType>>> kept_types = {};  // of all outputs (kept_facts.h)
};

// What is known of shapes from outside of the file.
struct KnownShapes {
  std::set<std::string, std::less<>> forgotten;  // nodes of whose first output the file does not say the shape
  std::map<std::pair<std::uint32_t, std::uint32_t>, Extents> of_outputs;  // by node and port, with kOpen
};

// Reads the nodes of a GraphDef, follows their inputs, and infers the types of their outputs.
class NodeWalk {
 public:
  NodeWalk(const ProtoMessage& graphdef, const GraphDefOptions& options) : graphdef_(graphdef), options_(options) {}
  // An extent that the file leaves open is kOpen then. Otherwise its tensor has no known extents. Requires: `known`
  // outlives the walk.
  NodeWalk(const ProtoMessage& graphdef, const GraphDefOptions& options, const KnownShapes& known)
      : graphdef_(graphdef), options_(options), known_(&known) {}

  // Errors: as graph_of_graphdef, except unresolved.
  [[nodiscard]] Result<void> walk();

  [[nodiscard]] const std::vector<WalkedNode>& nodes() const { return nodes_; }
  // Indices of the nodes, with those that they depend on before them.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  // The variable that an output is, or the output itself.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> source(std::pair<std::uint32_t, std::uint32_t> output) const;

 private:
  Result<void> add_nodes();
  // Errors: over_limit.
  Result<void> grow_outputs(WalkedNode& node, std::size_t count);
  Result<void> add_inputs(WalkedNode& node);
  Result<void> sort();
  Result<void> infer(std::uint32_t at);
  Result<void> describe_outputs(const WalkedNode& node, std::vector<KnownTensor>& outputs) const;
  [[nodiscard]] std::optional<Extents> stated_extents(const ProtoMessage& shape) const;
  void add_known_shapes(std::uint32_t at, std::vector<KnownTensor>& outputs) const;
  [[nodiscard]] bool may_have(const Extents& extents) const;
  [[nodiscard]] const Extents* given_shape(const std::string& name) const;
  Result<void> check_given() const;

  const ProtoMessage& graphdef_;
  const GraphDefOptions& options_;
  const KnownShapes* known_ = nullptr;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
  std::vector<WalkedNode> nodes_;
  std::vector<std::uint32_t> order_;
  std::size_t outputs_ = 0;            // of all nodes
  std::size_t most_outputs_ = 65'536;  // more for each node and input
};

// Both of what is known of one shape. Extents of different ranks, and those that contradict each other, stay as `a` has
// them.
[[nodiscard]] Extents merged_extents(Extents a, const Extents& b);

// "node", or "node:1" for another output than the first.
[[nodiscard]] std::string name_of_output(const NodeView& node, std::size_t port);

}  // namespace lowtide::graphdef_internal
