// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/budget_summary.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/plan/run_values.h"
#include "lowtide/report/summary.h"
#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/working_set.h"

namespace lowtide {
namespace {

constexpr std::size_t kMostRows = 10;

std::string name_of(const Graph& graph, NodeId node) { return quoted(graph.node(node).name, 40); }

std::string overhead(std::int64_t cost, std::int64_t base) {
  if (cost == base) return "0 %";
  if (base == 0) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.4f %%",
                100.0 * static_cast<double>(cost - base) / static_cast<double>(base));  // exact figures are in --json
  return text;
}

// "'conv' (features.0, model.py:40)"
std::string place_of(const Graph& graph, NodeId node, const IdVector<NodeId, std::string>& origins) {
  const bool is_known = origins.contains(node) && !origins[node].empty();
  return name_of(graph, node) + (is_known ? " (" + quoted(origins[node], 60) + ")" : "");
}

std::string beside_fixed(Bytes fixed) {
  return fixed > Bytes(0) ? ", beside " + format_bytes(fixed) + " that are always live." : ".";
}

// The outputs of the problem that all makers of a proof but its node make.
Bytes outputs_beside(const BudgetProblem& problem, const InfeasibleProof& proof) {
  std::set<NodeId> outputs;
  for (NodeId entry : all_ids<NodeId>(problem.nodes.size())) {
    if (problem.nodes[entry].is_output) outputs.insert(bytes_of_entry(problem, entry));
  }
  Bytes sum;
  for (NodeId output : outputs) {
    const NodeId maker = problem.nodes[output].part_of.value_or(output);
    const bool is_maker = std::binary_search(proof.makers.begin(), proof.makers.end(), maker);
    if (is_maker && maker != *proof.node) sum += problem.nodes[output].size;
  }
  return sum;
}

std::string why_nothing_fits(const Graph& graph, const KeptBudget& kept, Bytes fixed,
                             const IdVector<NodeId, std::string>& origins) {
  const InfeasibleProof& proof = *kept.answer.obstruction;
  const std::string beside = beside_fixed(fixed);
  if (!proof.node) {
    return "The outputs cannot all be in memory at the end, in whatever order they are computed" + beside;
  }
  if (!proof.makers.empty()) {
    const auto others = static_cast<std::int64_t>(proof.makers.size() - 1);
    return "Node " + place_of(graph, *proof.node, origins) + " needs " +
           format_bytes(report_internal::working_set_of(kept.problem, *proof.node)) +
           " for its inputs and its output, while " + format_bytes(outputs_beside(kept.problem, proof)) +
           " of outputs are live that " + counted(others, "other node") + (others == 1 ? " makes" : " make") +
           ". If one of these runs later, more is live then, in any sequence" + beside;
  }
  if (!proof.sets.empty()) {
    return "The inputs of node " + place_of(graph, *proof.node, origins) +
           " cannot all be in memory at once, in whatever order they are computed" + beside;
  }
  return "Node " + place_of(graph, *proof.node, origins) + " needs " +
         format_bytes(report_internal::working_set_of(kept.problem, *proof.node)) +
         " for its inputs and its output, in any sequence" + beside;
}

// The order has been found for outputs beside what they overwrite. With a budget they count in its place.
Bytes peak_without_reruns(const KeptBudget& kept) {
  const IdVector<NodeId, BudgetNode>& nodes = kept.problem.nodes;
  const bool overwrites =
      std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return node.overwrites.has_value(); });
  if (!overwrites || !kept.problem.groups.empty()) return kept.ordered.load;
  return peak_of_values(values_of_runs(kept.problem, kept.ordered.order), kept.ordered.order.size()).bytes;
}

void add_reruns(StyledText& out, const Graph& graph, const KeptBudget& kept,
                const IdVector<NodeId, std::string>& origins) {
  IdVector<NodeId, std::int64_t> times(kept.problem.nodes.size());
  for (NodeId node : kept.answer.runs) ++times[node];
  std::vector<std::pair<std::int64_t, NodeId>> rows;  // minus the cost of reruns
  for (NodeId node : all_ids<NodeId>(times.size())) {
    if (times[node] > 1) rows.emplace_back(-(times[node] - 1) * kept.problem.nodes[node].cost, node);
  }
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end());
  out.end_line().add("Nodes that run again", Style::heading).end_line();
  const bool has_origins = std::any_of(origins.begin(), origins.end(), [](const auto& one) { return !one.empty(); });
  std::vector<TextTable::Align> columns(has_origins ? 5 : 4, TextTable::Align::right);
  columns.front() = TextTable::Align::left;
  if (has_origins) columns.back() = TextTable::Align::left;
  TextTable table(columns);
  const auto add_row = [&](std::vector<StyledText> row, StyledText origin) {
    if (has_origins) row.push_back(std::move(origin));
    table.add_row(std::move(row));
  };
  add_row({StyledText("node", Style::dim), StyledText("reruns", Style::dim), StyledText("cost", Style::dim),
           StyledText("output", Style::dim)},
          StyledText("from", Style::dim));
  for (std::size_t at = 0; at < std::min(rows.size(), kMostRows); ++at) {
    const auto& [cost, node] = rows[at];
    add_row({StyledText(name_of(graph, node)), StyledText(with_thousands(times[node] - 1)),
             StyledText(with_thousands(-cost)), StyledText(report_internal::exact(kept.problem.nodes[node].size))},
            StyledText(has_origins && !origins[node].empty() ? quoted(origins[node], 60) : ""));
  }
  out.append(table.text());
  if (rows.size() > kMostRows) {
    out.add("  and " + counted(static_cast<std::int64_t>(rows.size() - kMostRows), "other node") +
            " (--json lists all)")
        .end_line();
  }
}

}  // namespace

StyledText budget_summary(const std::string& path, const Graph& graph, const KeptBudget& kept, Bytes fixed,
                          const IdVector<NodeId, std::string>& origins) {
  const BudgetAnswer& answer = kept.answer;
  StyledText out(shown_name(path), Style::heading);
  out.add("  " + counted(static_cast<std::int64_t>(graph.nodes().size()), "node")).end_line().end_line();
  const Bytes budget = kept.problem.budget + fixed;
  const auto share = [&](Bytes bytes) { return percent(bytes.count(), budget.count()); };
  TextTable table = report_internal::figures_table();
  using report_internal::add_figure;
  add_figure(table, {"budget", budget, share(budget), ""});
  if (fixed > Bytes(0)) add_figure(table, {"always live", fixed, share(fixed), "the file's fixed_bytes and states"});
  const Bytes plain = peak_without_reruns(kept) + fixed;
  add_figure(table, {"peak without reruns", plain, share(plain), "order " + kept.ordered.strategy});
  add_figure(table, {"peak", answer.peak + fixed, share(answer.peak + fixed),
                     counted(static_cast<std::int64_t>(answer.runs.size()), "run"), Style::strong});
  out.append(table.text()).end_line();
  if (answer.outcome == BudgetOutcome::infeasible) {
    out.add("  No sequence keeps the budget. ", Style::bad)
        .add(why_nothing_fits(graph, kept, fixed, origins))
        .end_line();
    return out;
  }
  if (answer.outcome == BudgetOutcome::not_found) {
    out.add("  No sequence was found that keeps the budget, and it is not proven that there is none.", Style::bad);
    return out.end_line();
  }
  out.add("  cost    " + with_thousands(answer.cost) + "   overhead " + overhead(answer.cost, answer.base_cost))
      .end_line();
  out.add("  bound   " + with_thousands(answer.cost_bound) + "   overhead " +
          overhead(answer.cost_bound, answer.base_cost) + ", from " + std::string(to_string(answer.bound_kind)));
  out.end_line();
  if (answer.is_optimal()) {
    out.end_line().add("  Proven optimal: no sequence within the budget costs less.", Style::good).end_line();
  } else {
    out.end_line().add("  Not proven optimal: a sequence may cost less, down to the bound.").end_line();
  }
  add_reruns(out, graph, kept, origins);
  return out;
}

}  // namespace lowtide
