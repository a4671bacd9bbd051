// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/target/target.h"

namespace lowtide {

// The longest time of a kernel in a file: 18 minutes. So the sum of a thousand of them is a cost (cost_model).
inline constexpr std::int64_t kMostMeasuredPicoseconds = std::int64_t{1} << 50;

// How long one run of a kernel took.
struct KernelTime {
  std::int64_t picoseconds = 0;  // the median of the samples, in [1, kMostMeasuredPicoseconds]
  std::int64_t samples = 0;      // at least 1
  friend bool operator==(const KernelTime&, const KernelTime&) = default;
};

// What kernels took on one machine. The costs of a plan can be these instead of estimates.
struct KernelTimes {
  std::vector<std::string> machine_key;  // Target::machine_key
  // By what the node computes (graph/work_text.h), and then by the name of the kernel.
  std::map<std::string, std::map<std::string, KernelTime>> of_work;
  friend bool operator==(const KernelTimes&, const KernelTimes&) = default;
};

// A file of times (JSON). docs/costs-format.md is the reference. Each work has a line. Deterministic.
[[nodiscard]] std::string print_kernel_times(const KernelTimes& times);
// Messages begin with `source_name`. Errors: (malformed) the text does not have this form, or a work or kernel is there
// twice; (unsupported) another version. O(n log n) in the length.
[[nodiscard]] Result<KernelTimes> parse_kernel_times(std::string_view text, std::string source_name);

// Adds the rows of `more`, which replace those of equal work and kernel. Errors (mismatch): the keys differ.
[[nodiscard]] Result<void> add_times(KernelTimes& times, const KernelTimes& more);

// A kernel that was measured must be faster than one offered before it by this share, to come before it. Smaller
// differences may be noise.
inline constexpr double kLeastGain = 0.05;

// The target whose catalogue states the measured times as costs (CostSource::measured). The kernels of a node for which
// all of them are known are sorted by time, except for differences below kLeastGain. The others stay as they are. What
// kernels are offered does not change. Errors (mismatch): the times have the key of another machine.
[[nodiscard]] Result<Target> with_times(Target target, std::shared_ptr<const KernelTimes> times);

}  // namespace lowtide
