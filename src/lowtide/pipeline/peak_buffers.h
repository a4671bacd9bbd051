// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/analysis/bounds.h"
#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/plan/plan.h"

namespace lowtide::pipeline_internal {

// One step of a plan. Of a program without steps, its one moment: `step` means nothing then.
struct PeakMoment {
  const Graph& graph;
  const Plan& plan;
  StepId step;
  const std::vector<Bytes>& profile;  // load of each step
  const MustBeLiveSet& must;          // of the step's node; empty for a copy
};

// The placed buffers that live then, the largest first, then by id. O(nodes + edges), and O(steps) for each of the
// largest that are kept.
[[nodiscard]] std::vector<PeakBuffer> peak_buffers(const PeakMoment& moment);

}  // namespace lowtide::pipeline_internal
