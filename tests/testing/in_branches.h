// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/graph/builder.h"

namespace lowtide::testing {

// A graph whose node 'choose' runs `network` in both of its branches. The branches capture the inputs of the network,
// and those of its constants for which `is_captured` holds. They have the other constants themselves.
inline Graph in_branches(const Graph& network, const std::function<bool(TensorId)>& is_captured) {
  GraphBuilder outer("outer");
  GraphBuilder branch("branch");
  Body body;
  for (TensorId id : all_ids<TensorId>(network.tensors().size())) {
    const Tensor& tensor = network.tensor(id);
    const bool is_outer = tensor.role == Role::input || (tensor.role == Role::constant && is_captured(id));
    GraphBuilder::TensorSpec spec{.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape};
    if (is_outer) {
      const TensorId around = outer.add_tensor(spec, tensor.role);
      spec.is_captured = true;
      body.captures.emplace_back(around, branch.add_tensor(spec, Role::input));
    } else {
      branch.add_tensor(spec, tensor.role == Role::output ? Role::temporary : tensor.role);
    }
  }
  for (NodeId id : all_ids<NodeId>(network.nodes().size())) branch.add_node(GraphBuilder::spec_of(network, id));
  branch.set_outputs(network.outputs());
  body.graph = std::make_shared<const Graph>(*std::move(branch).build());

  GraphBuilder::NodeSpec choose{.name = "choose", .type = "If"};
  choose.inputs = {outer.add_tensor({.name = "condition", .dtype = DType::boolean}, Role::input)};
  std::vector<TensorId> results;
  for (TensorId output : network.outputs()) {
    const Tensor& tensor = network.tensor(output);
    results.push_back(
        outer.add_tensor({.name = tensor.name + " chosen", .dtype = tensor.dtype, .shape = tensor.shape}));
    choose.outputs.emplace_back(results.back());
  }
  for (const char* name : {"then_branch", "else_branch"}) {
    body.name = name;
    choose.bodies.push_back(body);
  }
  outer.add_node(std::move(choose));
  outer.set_outputs(std::move(results));
  return *std::move(outer).build();
}

}  // namespace lowtide::testing
