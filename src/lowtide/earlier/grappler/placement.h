// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lowtide/earlier/grappler/cluster.h"

namespace lowtide::grappler_internal {

// Which device of a cluster a device name of a node means. Requires: the cluster has a device.
class Placement {
 public:
  explicit Placement(const Cluster& cluster);

  // The index of the device. A missing name, one that cannot be read, and one that the cluster does not have, mean the
  // GPU with the least number, or else the CPU with the least number, or else the first device. O(length of the name).
  [[nodiscard]] std::uint32_t device_of(std::string_view name) const;
  // Whether it is a name of a device of the cluster.
  [[nodiscard]] bool has(std::string_view name) const;

 private:
  [[nodiscard]] std::string full_name(std::string_view name) const;

  std::string job_ = "localhost";  // where a name has none
  std::unordered_map<std::string, std::uint32_t> by_full_name_;
  std::uint32_t fallback_ = 0;
};

}  // namespace lowtide::grappler_internal
