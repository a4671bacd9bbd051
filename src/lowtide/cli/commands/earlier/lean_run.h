// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/earlier/rewrite/lean_graphdef.h"
#include "lowtide/report/styled_text.h"

namespace lowtide::cli_internal {

// Lowtide's plan of a GraphDef, and what Grappler's simulation says of the graph before and after.
struct LeanRun {
  LeanGraphDef lean;
  ClusterDevice device;  // whose memory is planned
  bool has_link = false;
  std::int64_t nodes_before = 0;
  SimulatedRun before;
  SimulatedRun after;
};

// Errors: those of lean_graphdef; invalid (a feed or a fetch that the graph does not have).
[[nodiscard]] Result<LeanRun> plan_lean_run(const ProtoMessage& graphdef, LeanGraphDefOptions options);

// What a proof is about, if it is not all sequences of the nodes: ", with sums as they are ...". Empty otherwise.
[[nodiscard]] std::string scope_of(const LeanAnswer& answer);

// Whether the plan is known to keep the memory of the device, or that memory is not known.
[[nodiscard]] bool keeps_memory(const LeanRun& run);

[[nodiscard]] StyledText lean_summary(const LeanRun& run);
[[nodiscard]] Json lean_json(const LeanRun& run);

}  // namespace lowtide::cli_internal
