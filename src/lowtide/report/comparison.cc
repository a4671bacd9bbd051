// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/comparison.h"

#include <array>
#include <cstdio>

#include "lowtide/report/figures.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;
using report_internal::exact;

std::string times(Bytes bytes, Bytes arena) {
  if (arena == Bytes(0)) return bytes == arena ? "1.00x" : "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2fx",
                static_cast<double>(bytes.count()) / static_cast<double>(arena.count()));
  return text.data();
}

void add_line(TextTable& table, const ComparisonLine& line, Bytes arena) {
  if (line.refusal) {
    table.add_row({StyledText(line.name), StyledText("-"), {}, {}, {}, {}, StyledText(*line.refusal, Style::dim)});
    return;
  }
  const bool is_below = line.bytes < arena;
  std::string best = line.best ? exact(*line.best) : "-";
  if (line.is_best) best = "the same";
  table.add_row({StyledText(line.name), StyledText(exact(line.bytes)),
                 StyledText(times(line.bytes, arena), is_below ? Style::bad : Style::plain),
                 StyledText(with_thousands(line.shared_buffers)),
                 StyledText(line.blobs_left ? with_thousands(*line.blobs_left) : "-"), StyledText(best),
                 StyledText(line.run_order, Style::dim)});
}

StyledText verdict(const Comparison& comparison) {
  StyledText out;
  std::string below;
  for (const ComparisonLine& line : comparison.lines) {
    if (!line.refusal && line.bytes < comparison.arena) below += (below.empty() ? "" : ", ") + line.name;
  }
  if (below.empty()) {
    out.add("  No other planner needs less than Lowtide.", Style::good).end_line();
  } else {
    out.add("  These need less than Lowtide: " + below, Style::bad).end_line();
  }
  return out.add("  All results are verified.", Style::good).end_line();
}

}  // namespace

StyledText comparison_summary(const ModelFacts& model, const Comparison& comparison) {
  StyledText out(shown_name(model.path, report_internal::kPathColumns), Style::heading);
  out.add("  " + counted(model.nodes, "node") + ", " + counted(model.tensors, "tensor"));
  out.add("  " + model.format + ", sha256 " + model.sha256.substr(0, 12), Style::dim).end_line().end_line();
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::left});
  table.add_row({StyledText("planner", Style::dim), StyledText("bytes", Style::dim),
                 StyledText("of Lowtide", Style::dim), StyledText("shared", Style::dim), StyledText("left", Style::dim),
                 StyledText("best by its rule", Style::dim), StyledText("runs in", Style::dim)});
  const bool is_optimal = comparison.arena == comparison.bound;
  table.add_row(
      {StyledText("lowtide", Style::strong), StyledText(exact(comparison.arena), Style::strong), StyledText("1.00x"),
       StyledText("1"), StyledText("-"),
       is_optimal ? StyledText("proven optimal", Style::good) : StyledText("bound " + exact(comparison.bound)),
       StyledText("sequence", Style::dim)});
  for (const ComparisonLine& line : comparison.lines) add_line(table, line, comparison.arena);
  out.append(table.text()).end_line();
  return out.append(verdict(comparison));
}

}  // namespace lowtide
