// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/recomputation_text.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/analysis/last_uses.h"
#include "lowtide/analysis/peak.h"
#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/streams_text.h"

namespace lowtide::report_internal {
namespace {

constexpr std::size_t kMostRows = 10;

std::string overhead(std::int64_t time, std::int64_t base) {
  if (base == 0) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100.0 * static_cast<double>(time - base) / static_cast<double>(base));
  return text;
}

// Where it helps most that a result is not kept: the step with the most live bytes between two of its values.
struct Saving {
  StepId step;
  Bytes load;
};

std::optional<Saving> saving_of(const Plan& plan, NodeId node, const IdVector<ValueId, StepId>& uses,
                                const std::vector<Bytes>& loads) {
  std::map<TensorId, ValueId> latest;
  std::optional<Saving> best;
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    const Step& step = plan.program.steps[id];
    if (!is_compute(step) || node_of(step) != node) continue;
    for (ValueId value : step.writes) {
      const auto [found, is_first] = latest.emplace(plan.program.values[value].tensor, value);
      if (is_first) continue;
      for (std::size_t at = uses[found->second].index() + 1; at < id.index(); ++at) {
        if (!best || loads[at] > best->load) best = Saving{StepId(static_cast<std::uint32_t>(at)), loads[at]};
      }
      found->second = value;
    }
  }
  return best;
}

// "step 6, 9,216 B"
std::string saving_text(const std::optional<Saving>& saving) {
  return saving ? "step " + with_thousands(saving->step.value()) + ", " + exact(saving->load) : "";
}

TextTable reruns_table(const NamedPlan& shown, std::vector<Rerun> reruns) {
  using Align = TextTable::Align;
  std::stable_sort(reruns.begin(), reruns.end(),
                   [](const Rerun& a, const Rerun& b) { return a.picoseconds > b.picoseconds; });
  const IdVector<ValueId, StepId> uses = last_uses(shown.plan.program);
  const std::vector<Bytes> loads = load_by_step(shown.plan);
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::left});
  table.add_row({StyledText("runs again", Style::dim), StyledText("times", Style::dim),
                 StyledText("not kept", Style::dim), StyledText("time", Style::dim),
                 StyledText("away at, live there", Style::dim)});
  for (std::size_t at = 0; at < std::min(reruns.size(), kMostRows); ++at) {
    const Rerun& rerun = reruns[at];
    const std::string name = node_text(shown_node(shown.labels, rerun.node), "", node_columns(false));
    table.add_row({StyledText(name), StyledText(with_thousands(rerun.times)), StyledText(exact(rerun.bytes)),
                   StyledText(time_text(rerun.picoseconds)),
                   StyledText(saving_text(saving_of(shown.plan, rerun.node, uses, loads)))});
  }
  if (reruns.size() > kMostRows) {
    table.add_row(
        {StyledText("and " + std::to_string(reruns.size() - kMostRows) + " more (--json lists all)", Style::dim)});
  }
  return table;
}

TextTable swaps_table(const NamedPlan& shown, std::vector<Swap> swaps) {
  using Align = TextTable::Align;
  std::stable_sort(swaps.begin(), swaps.end(), [](const Swap& a, const Swap& b) { return a.bytes > b.bytes; });
  TextTable table({Align::left, Align::right, Align::left, Align::left, Align::right});
  table.add_row({StyledText("leaves the arena", Style::dim), StyledText("bytes", Style::dim),
                 StyledText("out at step", Style::dim), StyledText("in at step", Style::dim),
                 StyledText("time on the link", Style::dim)});
  for (std::size_t at = 0; at < std::min(swaps.size(), kMostRows); ++at) {
    std::string returns;
    for (StepId id : swaps[at].returns) returns += (returns.empty() ? "" : ", ") + with_thousands(id.value());
    table.add_row({StyledText(shown_name(shown.labels.tensors[swaps[at].tensor].name, node_columns(false))),
                   StyledText(exact(swaps[at].bytes)), StyledText(with_thousands(swaps[at].out.value())),
                   StyledText(returns), StyledText(time_text(swaps[at].picoseconds))});
  }
  if (swaps.size() > kMostRows) {
    table.add_row(
        {StyledText("and " + std::to_string(swaps.size() - kMostRows) + " more (--json lists all)", Style::dim)});
  }
  return table;
}

}  // namespace

std::string why_kept(const Labels& labels, const KeptTensor& kept) {
  switch (kept.reason) {
    case KeptReason::given: return "no node computes it";
    case KeptReason::result: return "it is a result of the run";
    case KeptReason::runs_once: return "its node may not run again";
    case KeptReason::hint: return "a hint keeps it";
    case KeptReason::costs_more: break;
  }
  std::string text = "its node would take " + time_text(kept.picoseconds) + " again";
  if (kept.absent.empty()) return text;
  const auto count = static_cast<std::int64_t>(kept.absent.size());
  const std::string first = shown_name(labels.tensors[kept.absent.front()].name, node_columns(false));
  return text + ", and needs " + (count == 1 ? first + ", which is" : counted(count, "tensor") + " that are") +
         " not there";
}

namespace {

TextTable kept_table(const NamedPlan& shown, const std::vector<KeptTensor>& kept) {
  using Align = TextTable::Align;
  TextTable table({Align::left, Align::right, Align::right, Align::left});
  table.add_row({StyledText("kept at step " + with_thousands(kept.front().step.value()), Style::dim),
                 StyledText("bytes", Style::dim), StyledText("next read at", Style::dim),
                 StyledText("why it stays", Style::dim)});
  for (std::size_t at = 0; at < std::min(kept.size(), kMostRows); ++at) {
    const KeptTensor& one = kept[at];
    const std::string name = shown_name(shown.labels.tensors[one.tensor].name, node_columns(false));
    table.add_row({StyledText(name), StyledText(exact(one.bytes)),
                   StyledText(one.next_read ? "step " + with_thousands(one.next_read->value()) : "the end"),
                   StyledText(why_kept(shown.labels, one))});
  }
  return table;
}

// "3 tensors leave the arena over the link and come back, 12,288 B out and 16,384 B in. ..."
std::string swaps_text(const Recomputation& found) {
  Bytes out;
  Bytes in;
  for (const Swap& swap : found.swaps) {
    out += swap.bytes;
    in += swap.bytes * static_cast<std::int64_t>(swap.returns.size());
  }
  const auto count = static_cast<std::int64_t>(found.swaps.size());
  return counted(count, "tensor") + (count == 1 ? " leaves" : " leave") + " the arena over the link and " +
         (count == 1 ? "comes" : "come") + " back, " + format_bytes_short(out) + " out and " + format_bytes_short(in) +
         " in; the memory outside has " + format_bytes_short(found.outside) + ". The run waits " +
         time_text(found.stall_picoseconds) + " for the link.";
}

std::string reruns_text(const Recomputation& found) {
  std::int64_t runs = 0;
  for (const Rerun& rerun : found.reruns) runs += rerun.times;
  const auto nodes = static_cast<std::int64_t>(found.reruns.size());
  if (nodes == 0) return found.swaps.empty() ? "no node runs again: another order fits." : "No node runs again.";
  return counted(nodes, "node") + (nodes == 1 ? " runs" : " run") + " again to keep the budget, " +
         counted(runs, "more run") + " in all.";
}

std::string reason_of(const NamedPlan& shown, const Obstruction& proof) {
  const auto node = [&] { return node_text(shown_node(shown.labels, *proof.node), "", node_columns(false)); };
  switch (proof.kind) {
    case ObstructionKind::claimed_bound: return "the lower bound for all plans is too large";
    case ObstructionKind::outputs_at_end: return "the outputs cannot all be in memory at the end";
    case ObstructionKind::working_set: return "the inputs, outputs and scratch of node " + node() + " alone do not fit";
    case ObstructionKind::last_of_outputs:
      return "node " + node() +
             ", or another one that makes outputs, runs last, and the outputs of all others are then "
             "in memory beside what it needs";
    case ObstructionKind::inputs_together: break;
  }
  return "the inputs of node " + node() + " cannot all be in memory at once, in whatever order they are computed";
}

}  // namespace

bool is_recomputation_infeasible(const PlanVerdict& verdict) {
  return verdict.recomputation && verdict.recomputation->outcome == BudgetOutcome::infeasible;
}

std::string recomputation_time(const Recomputation& found) {
  const std::string text =
      "Estimated time " + time_text(found.picoseconds) + ", " + overhead(found.picoseconds, found.base_picoseconds) +
      " more than with each node once and the fastest kernels (" + time_text(found.base_picoseconds) + "). ";
  const std::string none =
      std::string("no plan on one stream") + (found.has_link ? " with this link" : "") + " that fits takes less";
  if (found.picoseconds <= found.bound_picoseconds) return text + "Proven: " + none + ".";
  return text + "Bound: " + none + " than " + time_text(found.bound_picoseconds) + " (" +
         std::string(to_string(found.bound_kind)) + ").";
}

StyledText recomputation_text(const NamedPlan& shown, const PlanVerdict& verdict) {
  StyledText out;
  if (!verdict.recomputation || verdict.recomputation->outcome != BudgetOutcome::found) return out;
  const Recomputation& found = *verdict.recomputation;
  const bool moves = !found.swaps.empty();
  const std::string text =
      (moves ? swaps_text(found) + " " : "") + reruns_text(found) + " " + recomputation_time(found);
  out.append(paragraph(text, StyledText(moves ? "Moves: " : "Recomputes: ", Style::strong)));
  if (moves) out.append(swaps_table(shown, found.swaps).text());
  if (!found.reruns.empty()) out.append(reruns_table(shown, found.reruns).text());
  if (!found.kept.empty()) out.append(kept_table(shown, found.kept).text());
  return out;
}

StyledText no_recomputation_text(const NamedPlan& shown, const PlanVerdict& verdict) {
  if (!verdict.recomputation || verdict.recomputation->outcome == BudgetOutcome::found) return {};
  const Recomputation& found = *verdict.recomputation;
  if (!is_recomputation_infeasible(verdict)) {
    return paragraph("none of " + counted(found.tries, "plan") + " with nodes that run again" +
                         (found.has_link ? " or tensors that move" : "") +
                         " fits either. The smallest has an arena of " + format_bytes(found.arena) +
                         ". It is not proven that none fits.",
                     StyledText("Recomputation: "));
  }
  const std::string what = found.has_link
                               ? "neither recomputation nor the link helps. No plan on one stream fits, even if nodes "
                                 "run again and tensors move, because "
                               : "recomputation does not help. No plan on one stream fits, even if nodes run again, "
                                 "because ";
  return paragraph(what + reason_of(shown, *found.obstruction) + ".", StyledText("Proven: "));
}

}  // namespace lowtide::report_internal
