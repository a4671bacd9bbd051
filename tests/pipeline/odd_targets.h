// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/target/target.h"

namespace lowtide::testing {

// The dense kernels, but two in three Conv, Relu and Add nodes need scratch.
class ScratchForMost final : public Catalogue {
 public:
  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    std::vector<Kernel> kernels = dense_catalogue()->kernels(graph, node);
    const std::string& type = graph.op(node).type;
    if (type != "Conv" && type != "Relu" && type != "Add") return kernels;
    for (Kernel& kernel : kernels) kernel.scratch = Bytes(node.value() % 3 * 12);
    return kernels;
  }
};

// The dense target, sometimes with scratch, a finer alignment, or a small region before the large one.
inline Target random_target(Random& random) {
  Target target = dense_target();
  if (random.chance(60)) target.catalogue = std::make_shared<const ScratchForMost>();
  if (random.chance(30)) target.machine.regions[0].alignment = Bytes(8);
  if (random.chance(30)) {
    target.machine.regions.push_back(target.machine.regions[0]);
    target.machine.regions[0].name = "small";
    target.machine.regions[0].capacity = Bytes(random.between(0, 3) * 64);
  }
  return target;
}

}  // namespace lowtide::testing
