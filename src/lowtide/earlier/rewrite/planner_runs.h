// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/rewrite/lean_graphdef.h"
#include "lowtide/earlier/rewrite/timed_run.h"
#include "lowtide/plan/transfers.h"

namespace lowtide {

// The one that Grappler assumes.
inline constexpr TransferLink kLinkOfGrappler{.bytes_per_second = kBytesPerSecondOfGrappler};

// One memory of the curve.
struct LeanPoint {
  std::int64_t memory_bytes = 0;
  LeanAnswer answer;
  std::int64_t reruns = 0;
  std::int64_t swaps = 0;
};

// What falls short in Grappler's graph, and what Lowtide does instead: docs/baselines.md has a small graph for each.
struct GrapplerShortfall {
  std::string weakness;
  std::string grappler;
  std::string lowtide;
};

// One graph as it is given, as Grappler rewrites it, and as Lowtide plans it, each run by time_run on the same device
// and link. Without a link, that is the one which Grappler assumes, and Lowtide's plan has no copies.
struct BesideGrappler {
  TimedRun given;
  GrapplerResult grappler;
  TimedRun grappler_run;
  LeanGraphDef lean;
  TimedRun lean_run;
  std::vector<GrapplerShortfall> shortfalls;
  // From the least bytes in which the best order needs nothing else, in equal steps down to the last memory for which
  // a sequence was found, with about the effort of one plan for all. Less memory never takes less time. Empty if some
  // sizes are not known.
  std::vector<LeanPoint> curve;
  std::optional<LeanPoint> missed;  // the first memory after the curve's, for which no sequence was found
};

}  // namespace lowtide
