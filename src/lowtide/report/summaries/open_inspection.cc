// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/open_inspection.h"

#include <algorithm>

#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

using report_internal::exact;
using report_internal::model_title;
using report_internal::node_columns;

void add_ports(TextTable& table, std::string_view kind, const std::vector<OpenInspection::TypedName>& ports,
               const SummaryOptions& options) {
  const std::size_t shown = std::min(options.top, ports.size());
  for (std::size_t at = 0; at < shown; ++at) {
    table.add_row({StyledText(std::string(kind)), StyledText(shown_name(ports[at].name, node_columns(options.wide))),
                   StyledText(ports[at].type, Style::dim)});
  }
  if (shown < ports.size()) {
    table.add_row({StyledText(std::string(kind)),
                   StyledText("and " + std::to_string(ports.size() - shown) + " more", Style::dim), StyledText()});
  }
}

StyledText operator_counts(const OpenInspection& inspection, const SummaryOptions& options) {
  StyledText out;
  out.end_line().add("Operators by their weights", Style::heading).end_line();
  if (options.top == 0) return out.append(unlisted_text(inspection.operators.size(), "operator"));
  TextTable table({TextTable::Align::left, TextTable::Align::right, TextTable::Align::right});
  table.add_row(
      {StyledText("operator", Style::dim), StyledText("nodes", Style::dim), StyledText("weights", Style::dim)});
  const std::size_t shown = std::min(options.top, inspection.operators.size());
  std::int64_t rest = 0;
  for (std::size_t at = 0; at < inspection.operators.size(); ++at) {
    const OperatorTotals& one = inspection.operators[at];
    if (at >= shown) rest += one.totals.nodes;
    if (at >= shown) continue;
    table.add_row({StyledText(shown_name(one.op, node_columns(options.wide))),
                   StyledText(with_thousands(one.totals.nodes)), StyledText(exact(one.totals.constants))});
  }
  if (shown < inspection.operators.size()) {
    table.add_row({StyledText("and " + std::to_string(inspection.operators.size() - shown) + " more", Style::dim),
                   StyledText(with_thousands(rest), Style::dim), StyledText()});
  }
  return out.append(table.text());
}

}  // namespace

StyledText open_inspection_summary(const ModelFacts& model, const OpenInspection& inspection,
                                   const SummaryOptions& options) {
  StyledText out = model_title(model);
  TextTable table({TextTable::Align::left, TextTable::Align::left, TextTable::Align::left});
  table.add_row({StyledText("weights"), StyledText(exact(inspection.constants)),
                 StyledText(format_bytes_short(inspection.constants), Style::dim)});
  add_ports(table, "input", inspection.inputs, options);
  add_ports(table, "output", inspection.outputs, options);
  out.end_line().append(table.text());
  if (!inspection.operators.empty()) out.append(operator_counts(inspection, options));
  out.end_line()
      .add("How much memory the model needs is not known", Style::strong)
      .add(", because " + counted(static_cast<std::int64_t>(inspection.open), "tensor") +
           (inspection.open == 1 ? " has" : " have") + " an open size. These decide:\n" + inspection.reason)
      .end_line();
  return out;
}

}  // namespace lowtide
