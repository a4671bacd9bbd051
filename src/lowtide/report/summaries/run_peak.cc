// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/run_peak.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/quote.h"
#include "lowtide/report/summary.h"
#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;

// "conv", "conv #2" if it is what the second run made.
std::string value_name(const ShownRuns& shown, const RunValue& value) {
  const std::string& name = shown.names[value.entry];
  return value.made == 0 ? name : name + " #" + std::to_string(value.made + 1);
}

// "run 12 of 40, conv (features.0, model.py:40)"
std::string place_text(const ShownRuns& shown, std::size_t position) {
  if (position == shown.runs.size()) return "the end, where only outputs are live";
  const NodeId run = shown.runs[position];
  const std::string& origin = origin_of(shown, run);
  return "run " + with_thousands(static_cast<std::int64_t>(position)) + " of " +
         with_thousands(static_cast<std::int64_t>(shown.runs.size())) + ", " + quoted(shown.names[run], 40) +
         (origin.empty() ? "" : " (" + quoted(origin, 60) + ")");
}

std::string until_text(const ShownRuns& shown, const RunValue& value) {
  return value.live.end > shown.runs.size() ? "end" : with_thousands(static_cast<std::int64_t>(value.live.end) - 1);
}

// "2.4 % above the prediction".
std::string difference_text(Bytes measured, Bytes predicted) {
  if (measured == predicted) return "as predicted";
  const bool is_above = measured > predicted;
  const Bytes apart = is_above ? measured - predicted : predicted - measured;
  return percent(apart.count(), predicted.count()) + (is_above ? " above" : " below") + " the prediction";
}

class PeakTable {
 public:
  PeakTable(const ShownRuns& shown, const RunPeak& peak)
      : shown_(shown),
        total_(peak.bytes + shown.fixed),
        has_origins_(
            std::any_of(shown.origins.begin(), shown.origins.end(), [](const auto& one) { return !one.empty(); })),
        table_(has_origins_
                   ? std::vector{Align::left, Align::left, Align::right, Align::right, Align::right, Align::right,
                                 Align::left}
                   : std::vector{Align::left, Align::left, Align::right, Align::right, Align::right, Align::right}) {
    add({"value", "kind", "bytes", "share", "from run", "to run"}, "from", Style::dim);
  }

  void add(const RunValue& value) {
    add({quoted(value_name(shown_, value), 40), std::string(to_string(value.kind)), report_internal::exact(value.size),
         percent(value.size.count(), total_.count()), with_thousands(static_cast<std::int64_t>(value.live.begin)),
         until_text(shown_, value)},
        quoted(origin_of(shown_, value.entry), 60), Style::plain);
  }

  void add_sum(const std::string& name, const std::string& kind, Bytes bytes) {
    add({name, kind, report_internal::exact(bytes), percent(bytes.count(), total_.count()), "", ""}, "", Style::plain);
  }

  [[nodiscard]] StyledText text() const { return table_.text(); }

 private:
  void add(const std::vector<std::string>& cells, const std::string& origin, Style style) {
    std::vector<StyledText> row;
    for (const std::string& cell : cells) row.emplace_back(cell, style);
    if (has_origins_) row.emplace_back(origin, style);
    table_.add_row(std::move(row));
  }

  const ShownRuns& shown_;
  const Bytes total_;
  const bool has_origins_;
  TextTable table_;
};

}  // namespace

const std::string& origin_of(const ShownRuns& shown, NodeId entry) {
  static const std::string none;
  const NodeId run = shown.problem.nodes[entry].part_of.value_or(entry);
  return shown.origins.contains(run) ? shown.origins[run] : none;
}

StyledText run_peak_text(const ShownRuns& shown, std::size_t most) {
  const RunPeak peak =
      peak_of_values(values_of_runs(shown.problem, shown.runs, shown.overwriting, shown.copies), shown.runs.size());
  StyledText out;
  out.end_line().add("What is live at the peak", Style::heading).add(" (runs are counted from 0)").end_line();
  out.add("  " + format_bytes(peak.bytes + shown.fixed) + " at " + place_text(shown, peak.position) + ":");
  out.end_line();
  PeakTable table(shown, peak);
  if (shown.fixed > Bytes(0)) table.add_sum("always live", "states", shown.fixed);
  Bytes rest;
  for (std::size_t at = 0; at < peak.values.size(); ++at) {
    if (at < most) {
      table.add(peak.values[at]);
    } else {
      rest += peak.values[at].size;
    }
  }
  if (peak.values.size() > most) {
    const auto others = static_cast<std::int64_t>(peak.values.size() - most);
    table.add_sum("and " + counted(others, "other value"), "", rest);
  }
  return out.append(table.text());
}

std::vector<PageFigure> figures_of_runs(const ShownRuns& shown) {
  std::vector<PageFigure> figures;
  const Bytes peak =
      peak_of_values(values_of_runs(shown.problem, shown.runs, shown.overwriting, shown.copies), shown.runs.size())
          .bytes +
      shown.fixed;
  if (const Bytes budget = shown.problem.budget; budget > Bytes(0)) {
    figures.push_back({"Budget", format_bytes_short(budget + shown.fixed),
                       (peak <= budget + shown.fixed ? "kept: " : "exceeded: ") +
                           percent(peak.count(), (budget + shown.fixed).count()) + " of it"});
  }
  if (shown.fixed > Bytes(0)) {
    figures.push_back(
        {"Always live", format_bytes_short(shown.fixed), "not drawn; " + format_bytes_short(peak) + " with the peak"});
  }
  if (shown.measured) {
    figures.push_back({"Predicted", format_bytes_short(peak), "the peak, with what is always live"});
    figures.push_back({"Measured", format_bytes_short(*shown.measured), difference_text(*shown.measured, peak)});
  }
  IdVector<NodeId, std::int64_t> times(shown.problem.nodes.size());
  std::int64_t again = 0;
  std::int64_t cost = 0;
  std::int64_t base = 0;
  for (NodeId run : shown.runs) {
    const std::int64_t added = shown.problem.nodes[run].cost;
    const bool is_first = times[run]++ == 0;
    again += is_first ? 0 : 1;
    (is_first ? base : cost) += added;
  }
  figures.push_back(
      {"Runs", with_thousands(static_cast<std::int64_t>(shown.runs.size())),
       again == 0 ? "none again" : with_thousands(again) + " again" + (base > 0 ? ", +" + percent(cost, base) : "")});
  return figures;
}

std::vector<PageBand> bands_of_runs(const ShownRuns& shown) {
  std::vector<PageBand> bands;
  if (shown.phases.empty()) return bands;
  Flags<NodeId> has_run(shown.problem.nodes.size());
  for (std::size_t at = 0; at < shown.runs.size(); ++at) {
    const NodeId run = shown.runs[at];
    const bool is_again = !has_run.insert(run);
    const auto begin = static_cast<std::int64_t>(at);
    if (!shown.phases.contains(run) || shown.phases[run].empty()) continue;
    const bool continues = !bands.empty() && bands.back().end == begin && bands.back().is_again == is_again &&
                           bands.back().name == shown.phases[run];
    if (!continues) bands.push_back({shown.phases[run], begin, begin, is_again});
    bands.back().end = begin + 1;
  }
  return bands;
}

PackingProblem packing_of_runs(const ShownRuns& shown) {
  PackingProblem packing{.buffers = {}, .names = {}, .capacity = std::nullopt};
  for (const RunValue& value : values_of_runs(shown.problem, shown.runs, shown.overwriting, shown.copies)) {
    const std::string& origin = origin_of(shown, value.entry);
    packing.buffers.push_back(
        {.lifespan = {static_cast<std::int64_t>(value.live.begin), static_cast<std::int64_t>(value.live.end)},
         .gaps = {},
         .size = value.size,
         .fixed_offset = std::nullopt});
    std::string name = value_name(shown, value);
    if (value.kind != RunValueKind::output) name += " " + std::string(to_string(value.kind));
    packing.names.push_back(origin.empty() ? name : name + " (" + origin + ")");
  }
  return packing;
}

}  // namespace lowtide
