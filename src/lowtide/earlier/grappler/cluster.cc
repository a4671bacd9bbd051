// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/cluster.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lowtide/base/json_reader.h"
#include "lowtide/base/quote.h"

namespace lowtide {
namespace {

constexpr std::size_t kMostDevices = 1024;
constexpr std::int64_t kMostMemory = std::int64_t{1} << 60;
constexpr std::int64_t kMostSpeed = 1'000'000'000'000'000;
constexpr std::int64_t kMostCores = 1'000'000;

constexpr auto kFileKeys = std::to_array<std::string_view>({"devices"});
constexpr auto kDeviceKeys =
    std::to_array<std::string_view>({"name", "type", "memory", "cores", "frequency", "bandwidth", "architecture"});

class ClusterReader {
 public:
  ClusterReader(std::string_view json, std::string_view source_name)
      : json_(json, std::string(source_name)), source_name_(source_name) {}

  Result<Cluster> read() {
    const auto read_devices = [&](std::size_t /*key*/) { return json_.read_array([&] { return read_device(); }); };
    if (!json_.read_object(kFileKeys, read_devices) || !json_.read_end()) return *json_.error();
    if (cluster_.devices.empty()) return Error{ErrorCode::invalid, "a cluster needs a device", source_name_};
    std::ranges::sort(cluster_.devices, {}, &ClusterDevice::name);
    const auto twice = std::ranges::adjacent_find(cluster_.devices, {}, &ClusterDevice::name);
    if (twice != cluster_.devices.end()) {
      return Error{ErrorCode::invalid, "two devices have the name " + quoted(twice->name, 60), source_name_};
    }
    return std::move(cluster_);
  }

 private:
  bool read_device() {
    if (cluster_.devices.size() == kMostDevices) {
      return json_.fail(ErrorCode::over_limit, "more than " + std::to_string(kMostDevices) + " devices");
    }
    ClusterDevice device;
    const auto read = [&](std::size_t key) {
      switch (key) {
        case 0: return json_.read_name(device.name);
        case 1: return json_.read_name(device.type);
        case 2: return json_.read_integer("a size", 1, kMostMemory, device.memory_bytes);
        case 3: return json_.read_integer("a number of cores", 0, kMostCores, device.cores);
        case 4: return json_.read_integer("megahertz", 0, kMostSpeed, device.megahertz);
        case 5: return json_.read_integer("kilobytes per second", 0, kMostSpeed, device.kilobytes_per_second);
        default: return json_.read_name(device.architecture);
      }
    };
    if (!json_.read_object(kDeviceKeys, kDeviceKeys.size() - 2, read)) return false;
    if (device.name.empty()) return json_.fail(ErrorCode::invalid, "a device needs a name");
    const bool has_speed = device.cores > 0 && device.megahertz > 0;
    const bool needs_speed = device.type == "CPU" || (device.type == "GPU" && !device.architecture.empty());
    if (needs_speed && !has_speed) {
      return json_.fail(ErrorCode::invalid, "the device " + quoted(device.name, 60) +
                                                " needs cores and frequency, which say how fast it computes");
    }
    cluster_.devices.push_back(std::move(device));
    return true;
  }

  JsonReader json_;
  std::string source_name_;
  Cluster cluster_;
};

}  // namespace

Result<Cluster> read_cluster(std::string_view json, std::string_view source_name) {
  return ClusterReader(json, source_name).read();
}

}  // namespace lowtide
