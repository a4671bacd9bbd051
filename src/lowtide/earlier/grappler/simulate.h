// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/grappler/cluster.h"
#include "lowtide/earlier/grappler/typed_graph.h"

namespace lowtide::grappler_internal {

// A tensor at the peak of a device. Times are in nanoseconds, but steps begin and end with whole microseconds.
struct LiveTensor {
  std::string node;  // also "Recv_<node>_<port>_on_<device>" for what was copied to the device
  std::int64_t port = 0;
  std::int64_t bytes = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;  // 1 ns after the last of its readers
};

struct DevicePeak {
  std::int64_t bytes = 0;
  std::vector<LiveTensor> live;  // by name and port
};

struct Simulation {
  std::vector<DevicePeak> peaks;   // by device of the cluster
  std::vector<std::int64_t> ends;  // of each node, in whole microseconds; -1: it does not run
  std::int64_t nanoseconds = 0;    // until the last device is done
};

// Runs the nodes that the fetches need on the devices of a cluster, as Grappler's VirtualScheduler does.
//   - A device runs one node after another. The one that was ready first is next; names decide between equal ones.
//   - What a node reads from another device is sent once to each device; sending takes 1 ns, and receiving too. Control
//     inputs are not sent.
//   - An output lives from the begin of its node to the end of its last reader, even if that is on another device. The
//     copy there lives until it has been received. Inputs that a list in _swap_to_host names do not count as read.
//   - Variables and constants live as other outputs do.
// Feeds are ready at once. Requires: the feeds and fetches are nodes, and the cluster has a device. Errors: invalid (no
// fetch), over_limit (more than 2^60 bytes). O(nodes + inputs, log).
[[nodiscard]] Result<Simulation> simulate(const TypedGraph& graph, const Cluster& cluster,
                                          const std::vector<std::string>& feeds,
                                          const std::vector<std::string>& fetches);

}  // namespace lowtide::grappler_internal
