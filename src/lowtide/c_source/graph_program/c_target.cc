// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/graph_program/c_target.h"

#include <memory>
#include <vector>

#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/c_source/graph_program/node_calls.h"

namespace lowtide::graph_program_internal {
namespace {

class CCatalogue final : public Catalogue {
 public:
  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    std::vector<Kernel> kernels = dense_catalogue()->kernels(graph, node);
    for (Kernel& kernel : kernels) {
      kernel.name = "c";
      if (!may_work_in_place(graph, node)) kernel.in_place.clear();
    }
    return kernels;
  }
};

}  // namespace

Target c_target() {
  Target target;
  target.name = "c";
  target.machine.regions = {Region{.name = "arena", .alignment = kCAlignment}};
  target.machine.workers = {Worker{.name = "cpu"}};
  target.catalogue = std::make_shared<CCatalogue>();
  return target;
}

}  // namespace lowtide::graph_program_internal
