// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/lean_run.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/thousands.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/grappler/grappler.h"

namespace lowtide::cli_internal {
namespace {

StyledText outcome_line(const LeanRun& run) {
  const LeanAnswer& answer = run.lean.answer;
  const std::string memory = format_bytes(Bytes(run.device.memory_bytes));
  if (run.device.memory_bytes == 0) return StyledText("  The memory of the device is unknown.");
  if (answer.outcome == BudgetOutcome::infeasible) {
    return StyledText("  No order keeps the memory of the device, " + memory + ", not even with reruns" +
                          (run.has_link ? " and swaps" : "") + ": proven" + scope_of(answer) + ".",
                      Style::bad);
  }
  if (answer.outcome == BudgetOutcome::not_found) {
    return StyledText("  No order was found that keeps the memory of the device, " + memory + ".", Style::bad);
  }
  if (run.lean.unsized.empty()) return StyledText("  It keeps the memory of the device, " + memory + ".", Style::good);
  return StyledText("  It is not known whether it keeps the memory of the device, " + memory + ".", Style::bad);
}

StyledText unsized_line(const LeanGraphDef& lean) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> names;
  for (const std::string& name : lean.unsized) names.push_back(quoted(name, 60));
  return StyledText("  The sizes of some outputs are not known, and what is not known counts as 1: " +
                    listed_first(names, kShown) + ". Set shapes of Placeholders with --shape NAME=AxB.");
}

StyledText swaps_line(const LeanGraphDef& lean) {
  Bytes out;
  Bytes in;
  for (const LeanSwap& one : lean.swaps) {
    out += one.bytes;
    in += one.bytes * one.returns;
  }
  const auto count = static_cast<std::int64_t>(lean.swaps.size());
  if (count == 0) return StyledText("  No output leaves for the host.");
  return StyledText("  " + with_count(count, "output") + (count == 1 ? " leaves" : " leave") +
                    " for the host: " + format_bytes(out) + " out and " + format_bytes(in) + " in.");
}

StyledText time_line(const LeanRun& run) {
  const LeanAnswer& answer = run.lean.answer;
  std::string text = "  A run takes " + shown_nanoseconds(answer.cost) + ", and with enough memory " +
                     shown_nanoseconds(answer.base_cost);
  if (!run.lean.unsized.empty()) return StyledText(text + ".");
  text += "; ";
  const std::string within = run.device.memory_bytes == 0 ? "" : " within this memory";
  if (answer.is_optimal()) return StyledText(text + "proven to be the least" + within + scope_of(answer) + ".");
  return StyledText(text + "no sequence" + within + " takes less than " + shown_nanoseconds(answer.cost_bound) +
                    scope_of(answer) + ".");
}

}  // namespace

std::string scope_of(const LeanAnswer& answer) {
  return answer.tries_parts ? ", with sums as they are or in parts in two orders" : "";
}

bool keeps_memory(const LeanRun& run) {
  if (run.device.memory_bytes == 0) return true;
  return run.lean.answer.outcome == BudgetOutcome::found && run.lean.unsized.empty();
}

Result<LeanRun> plan_lean_run(const ProtoMessage& graphdef, LeanGraphDefOptions options) {
  LOWTIDE_TRY(const std::vector<DefNode> nodes, with_shapes(nodes_of_graphdef(graphdef), options.shapes));
  Result<RunEnds> ends = with_placeholders(nodes, options.ends);
  if (!ends) return ends.error();
  options.ends = *std::move(ends);
  Result<LeanGraphDef> lean = lean_graphdef(graphdef, options);
  if (!lean) return lean.error();
  Result<SimulatedRun> before = simulate_run(nodes, options.cluster, options.ends);
  if (!before) return before.error();
  LOWTIDE_TRY(const std::vector<DefNode> written, with_shapes(nodes_of_graphdef(lean->graphdef), options.shapes));
  Result<SimulatedRun> after = simulate_run(written, options.cluster, options.ends);
  if (!after) return after.error();
  const ClusterDevice& device = options.cluster.devices[lean->device];
  return LeanRun{.lean = *std::move(lean),
                 .device = device,
                 .has_link = options.link.has_value(),
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
  if (!lean.unsized.empty()) text.append(unsized_line(lean)).end_line();
  text.add("  Live bytes: at most " + format_bytes(lean.peak) + ", of which variables, constants and feeds have " +
           format_bytes(lean.resident) + ".")
      .end_line();
  const std::string plain = run.has_link ? "Without reruns and swaps" : "Without reruns";
  if (lean.unsized.empty()) {
    text.add("  " + plain + ", no order has less than " + format_bytes(lean.floor) + ".").end_line();
  }
  text.add("  " + with_count(recomputed, "node") + (recomputed == 1 ? " runs" : " run") + " again.").end_line();
  if (!lean.sums.empty()) {
    text.add("  " + with_count(static_cast<std::int64_t>(lean.sums.size()), "sum") +
             (lean.sums.size() == 1 ? " is" : " are") + " made in parts, two operands at a time.")
        .end_line();
  }
  if (run.has_link) text.append(swaps_line(lean)).end_line();
  if (lean.answer.outcome == BudgetOutcome::found) text.append(time_line(run)).end_line();
  text.add("  As Grappler simulates it: " + format_bytes(Bytes(run.before.peak_bytes[run.lean.device])) + " in " +
           shown_nanoseconds(run.before.nanoseconds) + " before, " +
           format_bytes(Bytes(run.after.peak_bytes[run.lean.device])) + " in " +
           shown_nanoseconds(run.after.nanoseconds) + " after.")
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
  const bool is_known = run.device.memory_bytes > 0;
  const bool is_open = lean.answer.outcome == BudgetOutcome::found && !lean.unsized.empty();
  json["outcome"] = is_known ? Json(is_open ? "unknown" : std::string(to_string(lean.answer.outcome))) : Json(nullptr);
  json["unknown_sizes"] = lean.unsized.size();
  json["reruns"] = Json::array();
  for (const auto& [node, times] : lean.recomputed) {
    json["reruns"].push_back({{"node", json_text(node)}, {"times", times}});
  }
  json["sums"] = Json::array();
  for (const std::string& name : lean.sums) json["sums"].push_back(json_text(name));
  json["swaps"] = Json::array();
  for (const LeanSwap& one : lean.swaps) {
    json["swaps"].push_back({{"node", json_text(one.node)}, {"bytes", one.bytes.count()}, {"returns", one.returns}});
  }
  json["live_bytes"] = lean.peak.count();
  json["resident_bytes"] = lean.resident.count();
  const bool is_sized = lean.unsized.empty();
  json["floor_bytes"] = is_sized ? Json(lean.floor.count()) : Json(nullptr);
  json["cost"] = lean.answer.cost;
  json["base_cost"] = lean.answer.base_cost;
  json["cost_bound"] = is_sized ? Json(lean.answer.cost_bound) : Json(nullptr);
  json["tries_parts"] = lean.answer.tries_parts;
  json["devices"] = Json::array();
  json["devices"].push_back({{"name", json_text(run.device.name)},
                             {"memory_bytes", is_known ? Json(run.device.memory_bytes) : Json(nullptr)},
                             {"peak_bytes_before", run.before.peak_bytes[run.lean.device]},
                             {"peak_bytes", run.after.peak_bytes[run.lean.device]}});
  json["nanoseconds_before"] = run.before.nanoseconds;
  json["nanoseconds"] = run.after.nanoseconds;
  return json;
}

}  // namespace lowtide::cli_internal
