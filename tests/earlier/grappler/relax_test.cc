// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/relax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/earlier/grappler/device_name.h"

namespace lowtide::testing {
namespace {

using grappler_internal::device_parts;
using grappler_internal::DeviceParts;
using grappler_internal::relax_assignments;

bool crosses(const DeviceParts& a, const DeviceParts& b) {
  return a.task != b.task || (a.kind == "CPU" && b.kind == "GPU") || (a.kind == "GPU" && b.kind == "CPU");
}

// The nodes that read the memory of this one, in a graph whose nodes read earlier ones by "n<index>".
std::set<std::size_t> readers_of(const std::vector<DefNode>& nodes, std::size_t from) {
  std::set<std::size_t> reached = {from};
  for (std::size_t at = from; at < nodes.size(); ++at) {
    for (const std::string& input : nodes[at].inputs) {
      if (input.front() == '^') continue;
      const std::size_t source = std::stoul(input.substr(1));
      if (reached.contains(source) && nodes[source].op != "Conv2D") reached.insert(at);
    }
  }
  return reached;
}

// The rule of TensorFlow as it is written: a walk from each assignment.
std::set<std::string> relaxed_by_walks(const std::vector<DefNode>& nodes) {
  std::set<std::size_t> done;
  std::set<std::string> names;
  for (std::size_t at = 0; at < nodes.size() && (at == 0 || nodes[at - 1].op != "_Send"); ++at) {
    if (nodes[at].op != "Assign" || !done.insert(at).second) continue;
    const std::set<std::size_t> reached = readers_of(nodes, at);
    bool is_bound = false;
    for (std::size_t one : reached) {
      is_bound |= nodes[one].op == "_Send" || crosses(device_parts(nodes[at].device), device_parts(nodes[one].device));
    }
    for (std::size_t one : reached) {
      if (is_bound || nodes[one].op != "Assign" || (one != at && done.contains(one))) continue;
      done.insert(one);
      names.insert(nodes[one].name);
    }
  }
  return names;
}

std::vector<DefNode> random_nodes(Random& random) {
  const std::vector<std::string> devices = {"/cpu:0", "/gpu:0", "/device:TPU:0", "/job:a/task:1/cpu:0", "/cpu:1"};
  const std::vector<std::string> ops = {"Assign", "Assign", "Relu", "Relu", "Conv2D", "_Send"};
  const std::size_t kinds = 2 + random.below(4);
  std::vector<DefNode> nodes;
  for (std::size_t at = 0; at < 12; ++at) {
    DefNode node{.name = "n" + std::to_string(at),
                 .op = ops[random.below(random.chance(25) ? 6 : 5)],
                 .device = devices[random.below(kinds)],
                 .inputs = {},
                 .attributes = {}};
    const std::size_t inputs = at == 0 ? 0 : random.below(3);
    for (std::size_t input = 0; input < inputs; ++input) {
      node.inputs.push_back((random.chance(12) ? "^n" : "n") + std::to_string(random.below(at)));
    }
    nodes.push_back(std::move(node));
  }
  // So that there are two devices, and the walks are made.
  nodes[0].device = "/cpu:0";
  nodes[0].op = "Relu";
  nodes[1].device = "/gpu:0";
  return nodes;
}

TEST(RelaxAssignments, AreThoseOfAWalkFromEach) {
  Random random(1);
  std::size_t marked = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<DefNode> nodes = random_nodes(random);
    const std::set<std::string> expected = relaxed_by_walks(nodes);
    const Result<std::vector<std::string>> found = relax_assignments(nodes);
    ASSERT_TRUE(found);
    ASSERT_EQ(std::set<std::string>(found->begin(), found->end()), expected) << round;
    marked += expected.size();
  }
  EXPECT_GT(marked, 1000U);
}

TEST(DeviceParts, AreThoseOfADeviceName) {
  EXPECT_EQ(device_parts("/gpu:0"), (DeviceParts{.task = "", .kind = "GPU"}));
  EXPECT_EQ(device_parts("/job:w/replica:0/task:1/device:TPU:3"),
            (DeviceParts{.task = "/job:w/replica:0/task:1", .kind = "TPU"}));
  for (const char* name : {"", "gpu:0", "/gpu", "/gpu:*", "/job:w", "/job:w/else:0"}) {
    EXPECT_EQ(device_parts(name), DeviceParts{}) << name;
  }
}

}  // namespace
}  // namespace lowtide::testing
