// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/cluster.h"

namespace lowtide::testing {

// One GPU, with 1 core and `megahertz`, so that its operators are as slow as a test needs them.
[[nodiscard]] inline Cluster one_gpu(std::int64_t memory, std::int64_t megahertz, std::int64_t kilobytes_per_second) {
  return {.devices = {{.name = "/gpu:0",
                       .type = "GPU",
                       .memory_bytes = memory,
                       .cores = 1,
                       .megahertz = megahertz,
                       .kilobytes_per_second = kilobytes_per_second,
                       .architecture = "6"}}};
}

// A node on the GPU, of f32. Variables and Placeholders have `extents`.
[[nodiscard]] inline DefNode node_of_floats(std::string name, std::string op, std::vector<std::string> inputs,
                                            const std::vector<std::int64_t>& extents) {
  DefNode node{
      .name = std::move(name), .op = std::move(op), .device = "/gpu:0", .inputs = std::move(inputs), .attributes = {}};
  set_type(node, "T", 1);
  if (node.op == "VariableV2" || node.op == "Placeholder") {
    set_type(node, "dtype", 1);
    set_shape(node, "shape", extents);
  }
  return node;
}

}  // namespace lowtide::testing
