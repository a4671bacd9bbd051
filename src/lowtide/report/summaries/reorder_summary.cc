// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/reorder_summary.h"

#include "lowtide/report/summary.h"
#include "lowtide/report/text/figures.h"

namespace lowtide {

StyledText reorder_summary(const std::string& path, const std::vector<ReorderLine>& lines) {
  StyledText out(shown_name(path), Style::heading);
  out.end_line().end_line();
  TextTable table({TextTable::Align::left, TextTable::Align::right, TextTable::Align::right, TextTable::Align::left});
  table.add_row({StyledText("order of ONNX Runtime", Style::dim), StyledText("first run", Style::dim),
                 StyledText("memory pattern", Style::dim)});
  for (const ReorderLine& line : lines) {
    table.add_row({line.order, format_bytes_short(line.first_run), format_bytes_short(line.pattern), line.note});
  }
  out.append(table.text()).end_line();
  return out.append(report_internal::paragraph(
      "Predicted for one thread and this graph as it is. Open the new file with these options of the session: "
      "execution_order = PRIORITY_BASED and graph_optimization_level = ORT_DISABLE_ALL. So give a file that ONNX "
      "Runtime has optimized and saved (optimized_model_filepath)."));
}

}  // namespace lowtide
