// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/order_summary.h"

#include "lowtide/report/summary.h"
#include "lowtide/report/text/figures.h"

namespace lowtide {

using report_internal::add_figure;
using report_internal::gap_text;
using report_internal::with_proof;

StyledText order_summary(const std::string& path, const Graph& graph, const OrderedGraph& ordered) {
  StyledText out(shown_name(path), Style::heading);
  out.add("  " + counted(static_cast<std::int64_t>(graph.nodes().size()), "node")).end_line().end_line();
  Bytes sum;
  for (const Tensor& tensor : graph.tensors()) sum += tensor.size;
  const auto share = [&](Bytes bytes) { return percent(bytes.count(), sum.count()); };
  TextTable table = report_internal::figures_table();
  add_figure(table, {"no reuse", sum, share(sum), "every output has bytes of its own"});
  add_figure(table, {"peak as given", ordered.load_as_given, share(ordered.load_as_given), "in the file's order"});
  add_figure(table, {"peak", ordered.load, share(ordered.load),
                     with_proof("order " + ordered.strategy, ordered.is_optimal()), Style::strong});
  add_figure(table, {"bound", ordered.bound, share(ordered.bound),
                     ordered.bound_name + ", gap " + gap_text(ordered.load, ordered.bound)});
  out.append(table.text());
  if (ordered.is_optimal()) out.end_line().add("  Proven optimal: no order needs less.", Style::good).end_line();
  out.end_line().add("Strategies that were tried", Style::heading).end_line();
  TextTable tried({TextTable::Align::left, TextTable::Align::right, TextTable::Align::right});
  tried.add_row(
      {StyledText("strategy", Style::dim), StyledText("peak", Style::dim), StyledText("of best", Style::dim)});
  for (const auto& [name, load] : ordered.tried) {
    tried.add_row({StyledText(name), StyledText(report_internal::exact(load)),
                   StyledText(percent(load.count(), ordered.load.count()))});
  }
  return out.append(tried.text());
}

}  // namespace lowtide
