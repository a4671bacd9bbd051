// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "lowtide/graph/builder.h"
#include "lowtide/graph/text.h"
#include "lowtide/lower/passes.h"
#include "tests/testing/after_pass.h"

namespace lowtide::testing {

// Inputs, outputs and states, with their types.
inline std::string ports_of(const Graph& graph) {
  std::string ports;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.role == Role::input || tensor.role == Role::output || tensor.role == Role::state)
      ports += tensor.name + " : " + print_tensor_type(tensor.dtype, tensor.shape) + "\n";
  }
  return ports;
}

// Runs each pass alone. It must give a graph only if it changes something, and keep inputs, outputs and states unless
// its row says otherwise. Returns the names of the passes that changed the graph.
inline std::set<std::string_view> run_each_pass(const Graph& graph,
                                                const std::shared_ptr<const KernelFormats>& machine) {
  const ConstantTable table;
  std::set<std::string_view> changing;
  for (const Pass& pass : all_passes()) {
    if (pass.traits.has(PassTrait::asks_machine) && machine == nullptr) continue;
    Graph load = GraphBuilder("g").build().value();
    PassInput input{&table, machine.get(), std::nullopt, load};
    const Graph after = after_pass(graph, pass.run(graph, input));
    if (print_graph(after) != print_graph(graph)) changing.insert(pass.name);
    const bool keeps_ports = !pass.traits.has(PassTrait::changes_ports);
    EXPECT_TRUE(!keeps_ports || ports_of(after) == ports_of(graph)) << pass.name;
  }
  return changing;
}

}  // namespace lowtide::testing
