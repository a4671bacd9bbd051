// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/learned_runs.h"

#include <cstddef>

#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;
using report_internal::exact;

void add_version(TextTable& table, std::vector<StyledText> cells, const LearnedFigures& figures) {
  cells.emplace_back(exact(figures.block));
  cells.emplace_back(exact(figures.outputs_block));
  cells.emplace_back(exact(figures.outside));
  cells.emplace_back(with_thousands(figures.grown));
  cells.emplace_back(exact(figures.held));
  table.add_row(std::move(cells));
}

}  // namespace

StyledText learned_runs_summary(const LearnedRuns& learned) {
  TextTable table(
      {Align::right, Align::left, Align::left, Align::right, Align::right, Align::right, Align::right, Align::right});
  std::vector<StyledText> head;
  for (const char* name : {"run", "sizes", "runtime", "block", "outputs", "outside", "grown", "at once"}) {
    head.emplace_back(name, Style::dim);
  }
  table.add_row(std::move(head));
  for (std::size_t at = 0; at < learned.runs.size(); ++at) {
    const LearnedRun& run = learned.runs[at];
    add_version(table,
                {StyledText(with_thousands(static_cast<std::int64_t>(at + 1))), StyledText(run.sizes),
                 StyledText("static_runtime_side_by_side")},
                run.side_by_side);
    add_version(table, {{}, {}, StyledText("static_runtime_groups")}, run.groups);
    table.add_row(
        {{}, {}, StyledText("lowtide", Style::strong), {}, {}, {}, {}, StyledText(exact(run.arena), Style::strong)});
  }
  StyledText out("Static Runtime learns sizes: these runs one after another", Style::heading);
  out.end_line().append(table.text());
  std::string text = counted(learned.managed, "tensor") + " in the block, in " + counted(learned.groups, "group") +
                     " for static_runtime_groups";
  if (learned.managed_outputs > 0) text += ", and " + counted(learned.managed_outputs, "output") + " in a second block";
  text += ". The first run allocates each tensor by itself. Later, what outgrows the block is allocated outside of it.";
  out.append(report_internal::paragraph(text));
  return out.append(report_internal::paragraph("Lowtide knows all sizes before the first run. One arena of " +
                                               exact(learned.arena) + " has space for all of these runs."));
}

}  // namespace lowtide
