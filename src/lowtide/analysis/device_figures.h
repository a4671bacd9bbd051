// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

struct OperatorBytes {
  std::string op;          // "caffe2::Conv"
  std::int64_t nodes = 0;  // that write on this device
  Bytes bytes;             // of what they write first
};

// What the nodes of a graph write on one device, as Caffe2's estimate_memory_usage counts it. A name counts once, at
// its largest size, for the node that writes it first. Names that exist before the run are not counted.
struct DeviceFigures {
  std::uint32_t device = 0;
  std::int64_t nodes = 0;
  Bytes written;                         // all names together
  Bytes load_as_given;                   // the most of them that are live at once; see below
  std::vector<OperatorBytes> operators;  // by bytes, the largest first, then by name
};

// The nodes run in the order of the graph. A name is live from its first write to its last use, as if a Free operator
// followed. A name of the graph's outputs is live to the end, and one that is never read only while its node runs.
// A node is on the device of its first output. Bodies do not count.
// `colocated`: tensors of one name; a tensor in no list is a name by itself. Requires: one device per tensor; lists
// without common tensors. Returns the devices with nodes, ascending. O((nodes + edges) log).
[[nodiscard]] std::vector<DeviceFigures> device_figures(const Graph& graph,
                                                        const IdVector<TensorId, std::uint32_t>& devices,
                                                        const std::vector<std::vector<TensorId>>& colocated);

}  // namespace lowtide
