// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/proto/message.h"
#include "lowtide/earlier/rewrite/lean_graphdef.h"
#include "lowtide/earlier/rewrite/planner_runs.h"

namespace lowtide {

struct BesideGrapplerOptions {
  LeanGraphDefOptions lean;
  GrapplerLevel level = GrapplerLevel::heuristics;
  std::string target_scope = {};  // as GrapplerOptions::target_scope
  std::int64_t points = 8;        // of the curve; 0: none
};

// `planned` is what lean_graphdef made of the graph with these options. Errors: those of run_grappler, lean_graphdef
// and time_run.
[[nodiscard]] Result<BesideGrappler> plan_beside_grappler(const ProtoMessage& graphdef, LeanGraphDef planned,
                                                          const BesideGrapplerOptions& options);

}  // namespace lowtide
