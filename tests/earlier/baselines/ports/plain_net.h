// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "tests/earlier/baselines/nets.h"

namespace lowtide::testing {

// A net as the older frameworks see it: operators in order, and names. The ports of their planners work on it.
struct PlainNet {
  struct Op {
    std::string type;
    std::vector<std::string> inputs;  // with repetitions
    std::vector<std::string> outputs;
  };
  std::vector<Op> ops;
  std::vector<std::string> inputs;  // in the order of the graph
  std::set<std::string> outputs;
  std::set<std::string> constants;
  std::set<std::string> protected_names;      // of BaselineOptions::keep
  std::map<std::string, std::int64_t> bytes;  // of the largest tensor of the name
  std::map<std::string, std::string> view_of;
  std::map<std::string, int> devices;  // empty if there is one
};

[[nodiscard]] PlainNet plain_net_of(const Net& net);

// "fc@1" is a version of "fc".
[[nodiscard]] std::string name_without_version(const std::string& tensor);

struct RandomNetSpec {
  int nodes = 12;
  int inputs = 1;              // at most; several nodes may read each
  unsigned written_again = 0;  // percent of results with an old name
  unsigned two_results = 30;   // percent of nodes
  unsigned read_twice = 0;     // percent of nodes that read a tensor twice
  unsigned views = 0;          // percent of nodes that are a view of a result
  unsigned constants = 0;      // percent of nodes with a constant input
  unsigned nodes_without_inputs = 0;
  unsigned outputs = 20;   // percent of results, in addition to the last one
  std::int64_t sizes = 4;  // different sizes of tensors
};

[[nodiscard]] Net random_plain_net(Random& random, const RandomNetSpec& spec);

// Puts every name on one of `count` devices.
void draw_devices(Random& random, Net& net, int count);

}  // namespace lowtide::testing
