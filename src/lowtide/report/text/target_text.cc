// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/target_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/analysis/peak.h"
#include "lowtide/base/listed.h"
#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/streams_text.h"

namespace lowtide::report_internal {
namespace {

// ", which take 1.25 ms longer"; empty if the costs are not known.
std::string added_time_text(const KernelExchange& exchange) {
  if (!exchange.added_picoseconds) return "";
  return std::string(", which ") + (exchange.nodes == 1 ? "takes " : "take ") + time_text(*exchange.added_picoseconds) +
         " longer";
}

}  // namespace

void add_regions(TextTable& table, const Plan& plan, const PlanVerdict& verdict, const SummaryOptions& options) {
  const std::vector<Region>& regions = (verdict.machine ? *verdict.machine : plan.machine).regions;
  const auto writable =
      std::count_if(regions.begin(), regions.end(), [](const Region& one) { return !one.is_read_only; });
  if (writable < 2 || regions.size() != plan.layout.arena.size()) return;
  for (std::size_t at = 0; at < regions.size(); ++at) {
    if (regions[at].is_read_only) continue;
    const std::optional<Bytes>& capacity = regions[at].capacity;
    std::string note = capacity ? "of " + format_bytes(*capacity) : "no limit";
    const std::vector<Bytes> loads = load_by_step(plan.layout, RegionId(static_cast<std::uint32_t>(at)));
    const Bytes peak = loads.empty() ? Bytes(0) : *std::max_element(loads.begin(), loads.end());
    const bool has_lifespans = plan.execution != ExecutionModel::dataflow;
    if (has_lifespans && plan.layout.arena[at] > peak)
      note += ", " + exact(plan.layout.arena[at] - peak) + " above the peak in it";
    add_figure(table,
               {"  in " + shown_name(regions[at].name, node_columns(options.wide)), plan.layout.arena[at], "", note});
  }
}

std::string region_proof_text(const NamedPlan& shown, const RegionProof& proof) {
  const auto tensor_text = [&](TensorId id) {
    return shown_name(shown.labels.tensors[id].name) + " (" + exact(shown.labels.tensors[id].size) + ")";
  };
  const std::string no_plan(no_plan_text(BoundScope::run_once));
  if (proof.tensors.size() == 1 && proof.scratch == Bytes(0)) {
    return no_plan + " fits, because the tensor " + tensor_text(proof.tensors[0]) +
           " is larger than every region, and a tensor lies in one region.";
  }
  std::vector<std::string> items;
  for (TensorId id : proof.tensors) items.push_back(tensor_text(id));
  if (proof.scratch > Bytes(0)) items.push_back(exact(proof.scratch) + " of scratch");
  const std::string when =
      proof.node ? "while " + node_text(shown_node(shown.labels, *proof.node), "") + " runs" : "at the end of the run";
  return no_plan + " fits, because these cannot be distributed over the regions. All are in memory " + when +
         ", each in one region: " + listed(items) + ".";
}

StyledText unused_text(const Plan& plan, const PlanVerdict& verdict) {
  StyledText out;
  if (!verdict.machine) return out;
  const auto& streams = plan.program.streams;
  const bool has_copies =
      std::any_of(streams.begin(), streams.end(), [](const Stream& stream) { return stream.link.has_value(); });
  if (!verdict.machine->links.empty() && !has_copies)
    out.append(paragraph("The links of the target are not used: nothing has to leave the arena."));
  if (verdict.machine->workers.size() > 1) out.append(paragraph("Only the first worker of the target is used."));
  return out;
}

void add_other_kernels(TextTable& table, const PlanVerdict& verdict, Bytes arena, std::int64_t sum) {
  if (!verdict.lightest || verdict.lightest->arena >= arena) return;
  const std::int64_t nodes = verdict.lightest->nodes;
  add_figure(table, {"other kernels", verdict.lightest->arena, percent(verdict.lightest->arena.count(), sum),
                     "arena with " + std::string(nodes == 1 ? "a slower kernel" : "slower kernels") + " for " +
                         counted(nodes, "node") + added_time_text(*verdict.lightest)});
}

StyledText exchange_text(const PlanVerdict& verdict) {
  if (!verdict.exchange || verdict.exchange->nodes == 0) return {};
  const std::int64_t nodes = verdict.exchange->nodes;
  const std::string what = counted(nodes, "node") + (nodes == 1 ? " has a slower kernel" : " have slower kernels");
  return paragraph(what + " that " + (nodes == 1 ? "needs" : "need") + " less memory" +
                   added_time_text(*verdict.exchange) +
                   (verdict.exchange->added_picoseconds ? " by the target's costs." : "."));
}

}  // namespace lowtide::report_internal
