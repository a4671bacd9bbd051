// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/beside_page.h"

#include <utility>

#include "lowtide/base/bytes.h"
#include "lowtide/base/thousands.h"
#include "lowtide/base/try.h"
#include "lowtide/cli/commands/earlier/lean_run.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/report/planners_page.h"

namespace lowtide::cli_internal {
namespace {

constexpr const char* kOpenVerdict = "some sizes are not known, so it is not known whether it keeps the memory";

PlannerRun run_of(std::string planner, const TimedRun& run, const LeanGraphDef& lean, std::int64_t memory) {
  const bool is_open = memory > 0 && run.peak_bytes <= memory && !lean.unsized.empty();
  const bool keeps = memory == 0 || (run.peak_bytes <= memory && !is_open);
  return {.planner = std::move(planner),
          .live = run.live,
          .peak_bytes = run.peak_bytes,
          .nanoseconds = run.nanoseconds,
          .copies = run.outs + run.ins,
          .verdict = memory == 0 ? "the memory is unknown"
                                 : (is_open ? kOpenVerdict : (keeps ? "keeps the memory" : "exceeds the memory")),
          .keeps = keeps};
}

std::string own_verdict(const LeanGraphDef& lean, std::int64_t memory) {
  const LeanAnswer& answer = lean.answer;
  if (memory == 0) return "the memory is unknown";
  const std::string scope = scope_of(answer);
  if (answer.outcome == BudgetOutcome::infeasible) return "no sequence keeps the memory: proven" + scope;
  if (answer.outcome == BudgetOutcome::not_found) return "no sequence was found that keeps the memory";
  if (!lean.unsized.empty()) return kOpenVerdict;
  return answer.is_optimal() ? "keeps the memory; proven to take the least time" + scope : "keeps the memory";
}

std::string verdict_of_point(const LeanAnswer& answer) {
  if (answer.outcome == BudgetOutcome::infeasible) return "no sequence keeps this memory: proven" + scope_of(answer);
  if (answer.outcome == BudgetOutcome::not_found) return "no sequence was found that keeps this memory";
  return answer.is_optimal() ? "proven to take the least time" + scope_of(answer) : "found";
}

PlannerPoint point_of(const LeanPoint& point) {
  return {.memory_bytes = point.memory_bytes,
          .nanoseconds = point.answer.cost,
          .bound_nanoseconds = point.answer.cost_bound,
          .reruns = point.reruns,
          .swaps = point.swaps,
          .verdict = verdict_of_point(point.answer),
          .is_found = point.answer.outcome == BudgetOutcome::found};
}

std::string shown_link(const std::optional<TransferLink>& link) {
  std::string rate = format_bytes(Bytes(link.value_or(kLinkOfGrappler).bytes_per_second)) + "/s each way";
  if (!link) return rate + ", as Grappler assumes; Lowtide's plan makes no copies without --link";
  if (link->latency_nanoseconds == 0) return rate;
  return rate + " and " + with_thousands(link->latency_nanoseconds) + " ns for each copy";
}

}  // namespace

Result<std::string> beside_page(const ProtoMessage& graphdef, const LeanGraphDef& planned,
                                BesideGrapplerOptions options, const std::string& name) {
  LOWTIDE_TRY(const std::vector<DefNode> nodes, with_shapes(nodes_of_graphdef(graphdef), options.lean.shapes));
  Result<RunEnds> ends = with_placeholders(nodes, options.lean.ends);
  if (!ends) return ends.error();
  options.lean.ends = *std::move(ends);
  const Result<BesideGrappler> beside = plan_beside_grappler(graphdef, planned, options);
  if (!beside) return beside.error();
  const ClusterDevice& device = options.lean.cluster.devices[beside->lean.device];
  const std::int64_t memory = device.memory_bytes;
  PlannersPage page{
      .name = name,
      .device = device.name,
      .memory_bytes = memory,
      .link = shown_link(options.lean.link),
      .runs = {run_of("as given", beside->given, beside->lean, memory),
               run_of("Grappler, " + std::string(to_string(options.level)), beside->grappler_run, beside->lean, memory),
               run_of("Lowtide", beside->lean_run, beside->lean, memory)},
      .curve = {},
      .shortfalls = {},
      .scope =
          "Live bytes of tensors, with variables, constants and feeds. Nothing is counted for "
          "alignment, scratch and offsets. Times are those of Grappler's simulation."};
  page.runs[1].reruns = static_cast<std::int64_t>(beside->grappler.recomputed.size());
  page.runs[1].sums = static_cast<std::int64_t>(beside->grappler.sums.size());
  for (const auto& [node, times] : beside->lean.recomputed) page.runs[2].reruns += times;
  page.runs[2].sums = static_cast<std::int64_t>(beside->lean.sums.size());
  page.runs[2].verdict = own_verdict(beside->lean, memory);
  page.runs[2].keeps =
      memory == 0 || (beside->lean.answer.outcome == BudgetOutcome::found && beside->lean.unsized.empty());
  for (const LeanPoint& point : beside->curve) page.curve.push_back(point_of(point));
  if (beside->missed) page.curve.push_back(point_of(*beside->missed));
  for (const GrapplerShortfall& one : beside->shortfalls) {
    page.shortfalls.push_back({one.weakness, one.grappler, one.lowtide});
  }
  return planners_page(page);
}

}  // namespace lowtide::cli_internal
