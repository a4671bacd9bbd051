// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/lean_run.h"

#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/bytes.h"
#include "lowtide/grappler/grappler.h"

namespace lowtide::cli_internal {
namespace {

std::string microseconds(std::int64_t nanoseconds) { return with_thousands(nanoseconds / 1000) + " us"; }

StyledText outcome_line(const LeanRun& run) {
  const BudgetAnswer& answer = run.lean.answer;
  const std::string memory = format_bytes(Bytes(run.device.memory_bytes));
  if (run.device.memory_bytes == 0) return StyledText("  The memory of the device is unknown.");
  switch (answer.outcome) {
    case BudgetOutcome::found: return StyledText("  It keeps the memory of the device, " + memory + ".", Style::good);
    case BudgetOutcome::infeasible:
      return StyledText("  No order keeps the memory of the device, " + memory + ", not even with reruns: proven.",
                        Style::bad);
    case BudgetOutcome::not_found: break;
  }
  return StyledText("  No order was found that keeps the memory of the device, " + memory + ".", Style::bad);
}

StyledText time_line(const BudgetAnswer& answer) {
  std::string text =
      "  A run takes " + microseconds(answer.cost) + ", and without reruns " + microseconds(answer.base_cost) + "; ";
  if (answer.is_optimal()) return StyledText(text + "proven to be the least within this memory.");
  return StyledText(text + "no sequence within this memory takes less than " + microseconds(answer.cost_bound) + ".");
}

}  // namespace

Result<LeanRun> plan_lean_run(const ProtoMessage& graphdef, const Cluster& cluster, const RunEnds& ends) {
  const std::vector<DefNode> nodes = nodes_of_graphdef(graphdef);
  const Result<RunEnds> all_ends = with_placeholders(nodes, ends);
  if (!all_ends) return all_ends.error();
  Result<LeanGraphDef> lean = lean_graphdef(graphdef, {.cluster = cluster, .ends = *all_ends});
  if (!lean) return lean.error();
  Result<SimulatedRun> before = simulate_run(nodes, cluster, *all_ends);
  if (!before) return before.error();
  Result<SimulatedRun> after = simulate_run(nodes_of_graphdef(lean->graphdef), cluster, *all_ends);
  if (!after) return after.error();
  return LeanRun{.lean = *std::move(lean),
                 .device = cluster.devices.front(),
                 .nodes_before = static_cast<std::int64_t>(nodes.size()),
                 .before = *std::move(before),
                 .after = *std::move(after)};
}

StyledText lean_summary(const LeanRun& run) {
  const LeanGraphDef& lean = run.lean;
  const auto recomputed = static_cast<std::int64_t>(lean.recomputed.size());
  StyledText text("Lowtide", Style::strong);
  text.add(": " + with_count(run.nodes_before, "node") + ", and " + std::to_string(count_nodes(lean.graphdef)) +
           " after the rewriting; verified")
      .end_line();
  text.append(outcome_line(run)).end_line();
  text.add("  Live bytes: at most " + format_bytes(lean.peak) + ", of which variables, constants and feeds have " +
           format_bytes(lean.resident) + ".")
      .end_line();
  text.add("  Without reruns, no order has less than " + format_bytes(lean.floor) + ".").end_line();
  text.add("  " + with_count(recomputed, "node") + (recomputed == 1 ? " runs" : " run") + " again.").end_line();
  if (lean.answer.outcome == BudgetOutcome::found) text.append(time_line(lean.answer)).end_line();
  text.add("  As Grappler simulates it: " + format_bytes(Bytes(run.before.peak_bytes.front())) + " in " +
           microseconds(run.before.nanoseconds) + " before, " + format_bytes(Bytes(run.after.peak_bytes.front())) +
           " in " + microseconds(run.after.nanoseconds) + " after.")
      .end_line();
  text.add("  Nothing is counted for alignment, scratch and offsets, which the allocator of TensorFlow decides.",
           Style::dim);
  return text.end_line();
}

Json lean_json(const LeanRun& run) {
  const LeanGraphDef& lean = run.lean;
  Json json = json_head("rewrite");
  json["planner"] = "lowtide";
  json["nodes_before"] = run.nodes_before;
  json["nodes"] = count_nodes(lean.graphdef);
  json["outcome"] = std::string(to_string(lean.answer.outcome));
  json["reruns"] = Json::array();
  for (const auto& [node, times] : lean.recomputed) {
    json["reruns"].push_back({{"node", json_text(node)}, {"times", times}});
  }
  json["live_bytes"] = lean.peak.count();
  json["resident_bytes"] = lean.resident.count();
  json["floor_bytes"] = lean.floor.count();
  json["cost"] = lean.answer.cost;
  json["base_cost"] = lean.answer.base_cost;
  json["cost_bound"] = lean.answer.cost_bound;
  json["devices"] = Json::array();
  const bool is_known = run.device.memory_bytes > 0;
  json["devices"].push_back({{"name", json_text(run.device.name)},
                             {"memory_bytes", is_known ? Json(run.device.memory_bytes) : Json(nullptr)},
                             {"peak_bytes_before", run.before.peak_bytes.front()},
                             {"peak_bytes", run.after.peak_bytes.front()}});
  json["nanoseconds_before"] = run.before.nanoseconds;
  json["nanoseconds"] = run.after.nanoseconds;
  return json;
}

}  // namespace lowtide::cli_internal
