// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lowtide {

// A run of one graph as one planner leaves it.
struct PlannerRun {
  std::string planner;                                      // "Grappler"
  std::vector<std::pair<std::int64_t, std::int64_t>> live;  // nanoseconds, and bytes from then on
  std::int64_t peak_bytes = 0;
  std::int64_t nanoseconds = 0;
  std::int64_t reruns = 0;
  std::int64_t sums = 0;  // in parts, or in a temporary variable
  std::int64_t copies = 0;
  std::string verdict;  // "keeps the memory; proven to take the least time"
  bool keeps = false;
};

// One memory of a curve of memory and time.
struct PlannerPoint {
  std::int64_t memory_bytes = 0;
  std::int64_t nanoseconds = 0;  // if `is_found`
  std::int64_t bound_nanoseconds = 0;
  std::int64_t reruns = 0;
  std::int64_t swaps = 0;
  std::string verdict;  // "proven to take the least time"
  bool is_found = true;

  [[nodiscard]] bool is_proven() const { return is_found && nanoseconds == bound_nanoseconds; }
};

struct PlannersPage {
  std::string name;                                    // of the graph
  std::string device;                                  // "/gpu:0"
  std::int64_t memory_bytes = 0;                       // 0: unknown
  std::string link;                                    // "16 GB/s each way, as Grappler assumes"
  std::vector<PlannerRun> runs;                        // at most three: as given, Grappler, Lowtide
  std::vector<PlannerPoint> curve;                     // with the largest memory first
  std::vector<std::array<std::string, 3>> shortfalls;  // what, Grappler, Lowtide
  std::string scope;                                   // what is not counted
};

// A page that works offline: the runs in a table and as live bytes over time, the curve, and what falls short. Without
// scripts. Text is escaped. O(points).
[[nodiscard]] std::string planners_page(const PlannersPage& page);

}  // namespace lowtide
