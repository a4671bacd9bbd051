// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/pipeline/planned_graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/report/page.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

// What a summary says about the regions and the kernels of a target.
namespace lowtide::report_internal {

// One row per region that is not read-only, if there are several: its arena, the capacity that the target states, and
// what its own peak leaves unused.
void add_regions(TextTable& table, const Plan& plan, const PlanVerdict& verdict, const SummaryOptions& options);

// Adds a row with the smaller arena of a plan with slower kernels, if one is known. `sum`: the bytes that are 100 %.
void add_other_kernels(TextTable& table, const PlanVerdict& verdict, Bytes arena, std::int64_t sum);

// "2 nodes have slower kernels that need less memory, ..."; empty if each node has its fastest kernel.
[[nodiscard]] StyledText exchange_text(const PlanVerdict& verdict);

// What the target describes, but no plan uses.
[[nodiscard]] StyledText unused_text(const Plan& plan, const PlanVerdict& verdict);

// "no plan without recomputation or extra copies fits, because ..."
[[nodiscard]] std::string region_proof_text(const NamedPlan& shown, const RegionProof& proof);

}  // namespace lowtide::report_internal
