// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/swap_summary.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/report/summary.h"
#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/working_set.h"

namespace lowtide {
namespace report_internal {
namespace {

constexpr std::size_t kMostMoved = 10;

std::string milliseconds(std::int64_t nanoseconds) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3f ms", static_cast<double>(nanoseconds) / 1e6);  // exact figures are in --json
  return text;
}

std::string share_of(std::int64_t more, std::int64_t base) {
  if (more == 0) return "0 %";
  if (base == 0) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, "%.4f %%", 100.0 * static_cast<double>(more) / static_cast<double>(base));
  return text;
}

std::string why_too_large(const Graph& graph, const SwappedBudget& swapped) {
  if (!swapped.answer.obstruction) return "The outputs cannot all be in memory at the end.";
  const NodeId node = *swapped.answer.obstruction;
  return "Node " + quoted(graph.node(node).name, 40) + " needs " + format_bytes(working_set_of(swapped.problem, node)) +
         " for its inputs and its output, whatever is moved or runs again.";
}

NodeId maker_of(const BudgetProblem& problem, NodeId entry) { return problem.nodes[entry].part_of.value_or(entry); }

// The name of a node, or of its output if that is not the first one.
std::string name_of(const Graph& graph, const BudgetProblem& problem, NodeId entry) {
  const Node& node = graph.node(maker_of(problem, entry));
  if (maker_of(problem, entry) == entry) return quoted(node.name, 40);
  std::size_t place = 1;
  for (NodeId other : all_ids<NodeId>(entry.index())) {
    place += maker_of(problem, other) == maker_of(problem, entry) && other != maker_of(problem, entry) ? 1 : 0;
  }
  return quoted(graph.tensor(*node.outputs[place]).name, 40);
}

// One output that is moved, with all transfers of all its runs, or one value that is fetched.
struct Moved {
  NodeId entry;
  std::int64_t transfers = 0;
  std::int64_t link_time = 0;
};

// The largest ones first.
std::vector<Moved> moved_outputs(const SwappedBudget& swapped) {
  IdVector<NodeId, Moved> all(swapped.problem.nodes.size());
  const auto add = [&](NodeId entry, std::int64_t time) {
    all[entry].entry = entry;
    ++all[entry].transfers;
    all[entry].link_time += time;
  };
  for (const Transfer& transfer : swapped.answer.transfers) {
    add(transfer.part.value_or(swapped.answer.runs[transfer.run]), transfer.end - transfer.begin);
  }
  for (const Fetch& fetch : swapped.answer.fetches) add(fetch.entry, fetch.end - fetch.begin);
  std::vector<Moved> rows;
  for (const Moved& moved : all) {
    if (moved.transfers > 0) rows.push_back(moved);
  }
  const auto size_of = [&](const Moved& moved) { return swapped.problem.nodes[moved.entry].size; };
  std::sort(rows.begin(), rows.end(), [&](const Moved& a, const Moved& b) {
    return size_of(a) != size_of(b) ? size_of(a) > size_of(b) : a.entry < b.entry;
  });
  return rows;
}

void add_moved(StyledText& out, const Graph& graph, const SwappedBudget& swapped) {
  const std::vector<Moved> rows = moved_outputs(swapped);
  if (rows.empty()) return;
  const bool has_fetches = !swapped.answer.fetches.empty();
  out.end_line()
      .add(has_fetches ? "Outputs that leave and come back, and values that are fetched"
                       : "Outputs that leave and come back",
           Style::heading)
      .end_line();
  using Align = TextTable::Align;
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right});
  table.add_row({StyledText("node", Style::dim), StyledText("output", Style::dim), StyledText("transfers", Style::dim),
                 StyledText("time on the link", Style::dim), StyledText("a run instead", Style::dim)});
  for (std::size_t at = 0; at < std::min(rows.size(), kMostMoved); ++at) {
    const NodeId entry = rows[at].entry;
    const BudgetNode& maker = swapped.problem.nodes[maker_of(swapped.problem, entry)];
    const std::string run = maker.fetched_over ? "" : milliseconds(maker.cost * swapped.link.nanoseconds_per_cost);
    table.add_row({StyledText(name_of(graph, swapped.problem, entry)),
                   StyledText(exact(swapped.problem.nodes[entry].size)), StyledText(with_thousands(rows[at].transfers)),
                   StyledText(milliseconds(rows[at].link_time)), StyledText(run)});
  }
  out.append(table.text());
  if (rows.size() <= kMostMoved) return;
  out.add("  and " + counted(static_cast<std::int64_t>(rows.size() - kMostMoved), "other node") +
          " (--json lists all transfers)");
  out.end_line();
}

void add_times(StyledText& out, const SwappedBudget& swapped) {
  const SwapAnswer& answer = swapped.answer;
  Bytes moved_out;
  Bytes moved_in;
  for (const Transfer& transfer : answer.transfers) {
    const Bytes size = swapped.problem.nodes[transfer.part.value_or(answer.runs[transfer.run])].size;
    (transfer.direction == TransferDirection::out ? moved_out : moved_in) += size;
  }
  std::int64_t busy = answer.time - answer.stall_time;
  const auto line = [&](const std::string& name, std::int64_t time, const std::string& note) {
    out.add("  " + name + milliseconds(time) + note).end_line();
  };
  line("time    ", answer.time, "   overhead " + share_of(answer.time - answer.base_time, answer.base_time));
  const char* from = answer.proof                           ? ", from milestones and the capacity of the link"
                     : answer.time_bound > answer.base_time ? ", what a link needs to fetch each value once"
                                                            : ", each node runs once";
  line("bound   ", answer.time_bound,
       "   overhead " + share_of(answer.time_bound - answer.base_time, answer.base_time) + from);
  line("reruns  ", busy - answer.base_time, "   " + share_of(busy - answer.base_time, answer.base_time));
  line("stalls  ", answer.stall_time,
       "   " + share_of(answer.stall_time, answer.base_time) + ", waiting for transfers");
  out.add("  moved   " + format_bytes_short(moved_out) + " out, " + format_bytes_short(moved_in) + " in, at " +
          format_bytes_short(Bytes(swapped.link.bytes_per_second)) + " per second and direction")
      .end_line();
  Bytes fetched;
  for (const Fetch& fetch : answer.fetches) fetched += swapped.problem.nodes[fetch.entry].size;
  if (!answer.fetches.empty()) {
    out.add("  fetched " + format_bytes_short(fetched) + " in " +
            counted(static_cast<std::int64_t>(answer.fetches.size()), "transfer"))
        .end_line();
  }
  if (answer.is_optimal()) {
    out.end_line().add("  Proven optimal: nothing within the budget is faster.", Style::good).end_line();
  }
}

}  // namespace
}  // namespace report_internal

StyledText swap_summary(const std::string& path, const Graph& graph, const SwappedBudget& swapped, Bytes fixed) {
  using namespace report_internal;  // NOLINT(google-build-using-namespace): the body is about these types only
  const SwapAnswer& answer = swapped.answer;
  StyledText out(shown_name(path), Style::heading);
  out.add("  " + counted(static_cast<std::int64_t>(graph.nodes().size()), "node")).end_line().end_line();
  const Bytes budget = swapped.problem.budget + fixed;
  const auto share = [&](Bytes bytes) { return percent(bytes.count(), budget.count()); };
  TextTable table = figures_table();
  add_figure(table, {"budget", budget, share(budget), ""});
  if (fixed > Bytes(0)) add_figure(table, {"always live", fixed, share(fixed), "the file's fixed_bytes and states"});
  add_figure(table, {"peak of the order", swapped.ordered.load + fixed, share(swapped.ordered.load + fixed),
                     "order " + swapped.ordered.strategy + ", without reruns and transfers"});
  if (answer.outcome == BudgetOutcome::found) {
    add_figure(table, {"peak", answer.peak + fixed, share(answer.peak + fixed),
                       counted(static_cast<std::int64_t>(answer.runs.size()), "run") + ", " +
                           counted(static_cast<std::int64_t>(answer.transfers.size()), "transfer"),
                       Style::strong});
  }
  out.append(table.text()).end_line();
  if (answer.outcome == BudgetOutcome::infeasible) {
    return out.add("  Nothing keeps the budget. ", Style::bad).add(why_too_large(graph, swapped)).end_line();
  }
  if (answer.outcome == BudgetOutcome::not_found) {
    out.add("  No sequence was found that keeps the budget, and it is not proven that there is none.", Style::bad);
    return out.end_line();
  }
  add_times(out, swapped);
  add_moved(out, graph, swapped);
  return out;
}

}  // namespace lowtide
