// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/figures.h"

#include <optional>

#include "lowtide/report/summary.h"

namespace lowtide::detail {

std::string exact(Bytes size) { return with_thousands(size.count()) + " B"; }

TextTable figures_table() {
  using Align = TextTable::Align;
  return TextTable({Align::left, Align::right, Align::right, Align::right, Align::left});
}

void add_figure(TextTable& table, std::string_view name, Bytes size, std::string_view share, const StyledText& note,
                Style style) {
  table.add_row({StyledText(name, style), StyledText(exact(size), style),
                 StyledText(size >= Bytes(1024) ? format_bytes_short(size) : "", Style::dim), StyledText(share), note});
}

std::string gap_text(Bytes achieved, Bytes bound) {
  const std::optional<double> gap = gap_of(achieved, bound);
  if (achieved == bound) return "0 %";
  if (!gap) return "unknown";
  return *gap < 0.001 ? "below 0.1 %" : percent((achieved - bound).count(), bound.count());
}

StyledText with_proof(std::string_view strategy, bool is_optimal) {
  StyledText note(strategy);
  if (is_optimal) note.add(", ").add("proven optimal", Style::good);
  return note;
}

}  // namespace lowtide::detail
