// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/hints.h"

#include "lowtide/base/limits.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/report/summary.h"

namespace lowtide::cli_internal {
namespace {

enum class HintOutcome : std::uint8_t { honoured, not_needed, not_kept };

struct HintResult {
  HintOutcome outcome;
  std::string text;
};

HintResult result_of(const HintResults& results, const NodeHint& hint) {
  const std::int64_t runs = results.runs[hint.node];
  if (!results.is_kept) return {HintOutcome::not_kept, "no plan was found that keeps the budget"};
  if (hint.kind == HintKind::recompute) {
    if (runs < 2) return {HintOutcome::not_needed, "the budget is kept without reruns"};
    return {HintOutcome::honoured, "it runs " + counted(runs, "time")};
  }
  if (hint.kind == HintKind::keep) return {HintOutcome::honoured, "it runs once"};
  const std::int64_t leaves = results.leaves ? (*results.leaves)[hint.node] : 0;
  if (leaves == 0) return {HintOutcome::not_needed, "the budget is kept while it stays in memory"};
  return {HintOutcome::honoured, "it runs once, and leaves " + counted(leaves, "time")};
}

const char* name_of(HintOutcome outcome) {
  switch (outcome) {
    case HintOutcome::honoured: return "honoured";
    case HintOutcome::not_needed: return "not_needed";
    case HintOutcome::not_kept: return "not_kept";
  }
  return "";
}

const char* word_of(HintOutcome outcome) {
  switch (outcome) {
    case HintOutcome::honoured: return "honoured: ";
    case HintOutcome::not_needed: return "not needed: ";
    case HintOutcome::not_kept: return "no effect: ";
  }
  return "";
}

}  // namespace

std::vector<HintRequest> read_hints(const Arguments& arguments) {
  const std::optional<std::string> path = arguments.value("--hints");
  if (!path) return {};
  if (!arguments.has("--budget")) stop_usage("'--hints' says how a budget is kept; add '--budget SIZE'");
  return take(parse_hints(take(read_text_file(*path, limits::kMaxFileBytes)), name_of_file(*path)));
}

HintResults results_of(const ModelHints& hints, const Graph& graph, const PlannedGraph& planned) {
  HintResults results{.hints = hints.accepted,
                      .names = hints.names,
                      .runs = IdVector<NodeId, std::int64_t>(graph.nodes().size()),
                      .is_kept = planned.fits()};
  for (const Step& step : planned.plan.program.steps) {
    if (const Compute* compute = std::get_if<Compute>(&step.work)) ++results.runs[compute->node];
  }
  if (planned.recomputation && planned.recomputation->has_link) {
    results.leaves = IdVector<NodeId, std::int64_t>(graph.nodes().size());
    for (const Swap& swap : planned.recomputation->swaps) {
      ++(*results.leaves)[graph.tensor(swap.tensor).producer.value()];
    }
  }
  return results;
}

StyledText hints_text(const HintResults& results) {
  StyledText out;
  if (results.hints.empty()) return out;
  out.end_line().add("Hints", Style::heading).end_line();
  TextTable table({TextTable::Align::left, TextTable::Align::left, TextTable::Align::left});
  for (std::size_t at = 0; at < results.hints.size(); ++at) {
    const HintResult result = result_of(results, results.hints[at]);
    table.add_row({StyledText(shown_name(results.names[at], 40)),
                   StyledText(std::string(to_string(results.hints[at].kind))),
                   StyledText(word_of(result.outcome) + result.text)});
  }
  return out.append(table.text());
}

Json json_of(const HintResults& results) {
  Json json = Json::array();
  for (std::size_t at = 0; at < results.hints.size(); ++at) {
    const NodeHint& hint = results.hints[at];
    json.push_back({{"name", json_text(results.names[at])},
                    {"hint", std::string(to_string(hint.kind))},
                    {"outcome", name_of(result_of(results, hint).outcome)},
                    {"runs", results.runs[hint.node]}});
  }
  return json;
}

}  // namespace lowtide::cli_internal
