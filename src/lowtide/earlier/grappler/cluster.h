// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"

namespace lowtide {

// A device, with what TensorFlow's DeviceProperties say of it. 0: not known.
struct ClusterDevice {
  std::string name;  // "/job:localhost/replica:0/task:0/device:GPU:0", "/gpu:0"
  std::string type;  // "CPU", "GPU" or another one
  std::int64_t memory_bytes = 0;
  std::int64_t cores = 0;  // for a GPU, its multiprocessors
  std::int64_t megahertz = 0;
  std::int64_t kilobytes_per_second = 0;
  std::string architecture = {};  // of a GPU, "7.0"
};

// The devices that run a graph, in the order of their names.
struct Cluster {
  std::vector<ClusterDevice> devices;
};

// Reads a cluster file (docs/graphdef.md). `source_name` is for messages. Errors: malformed JSON and those of its form,
// with the place; invalid (no device, two devices with one name, a CPU without cores or frequency, a GPU whose speed is
// 0); over_limit. O(bytes).
[[nodiscard]] Result<Cluster> read_cluster(std::string_view json, std::string_view source_name);

}  // namespace lowtide
