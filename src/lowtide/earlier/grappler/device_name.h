// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace lowtide::grappler_internal {

// The parts of a device name, such as "/job:worker/replica:0/task:1/device:GPU:0".
struct DeviceParts {
  std::string task;  // "/job:worker/replica:0/task:1"
  std::string kind;  // "GPU"

  friend bool operator==(const DeviceParts&, const DeviceParts&) = default;
};

// Both parts are empty for a name without a kind and a number, and for one that is not a device name. "/gpu:0" is an
// older form of "/device:GPU:0".
[[nodiscard]] DeviceParts device_parts(std::string_view name);

}  // namespace lowtide::grappler_internal
