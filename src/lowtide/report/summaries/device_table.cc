// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/device_table.h"

#include <utility>

#include "lowtide/report/text/figures.h"

namespace lowtide {

StyledText device_table(const std::vector<DeviceFigures>& figures, const std::vector<std::string>& names,
                        std::size_t top) {
  using Align = TextTable::Align;
  TextTable table({Align::right, Align::right, Align::left, Align::right});
  table.add_row({StyledText("bytes", Style::dim), StyledText("at once", Style::dim), StyledText("device", Style::dim),
                 StyledText("nodes", Style::dim)});
  for (const DeviceFigures& device : figures) {
    table.add_row({StyledText(report_internal::exact(device.written), Style::strong),
                   StyledText(report_internal::exact(device.load_as_given), Style::strong),
                   StyledText(shown_name(names[device.device]), Style::strong),
                   StyledText(with_thousands(device.nodes))});
    for (std::size_t at = 0; at < device.operators.size() && at < top; ++at) {
      const OperatorBytes& one = device.operators[at];
      table.add_row({StyledText(report_internal::exact(one.bytes)),
                     {},
                     StyledText("  " + shown_name(one.op)),
                     StyledText(with_thousands(one.nodes))});
    }
  }
  StyledText out("Blobs that operators write, by device", Style::heading);
  out.end_line().append(table.text());
  return out.append(
      report_internal::paragraph("Each blob counts once, at its largest size. 'At once' are the most of them that are "
                                 "live in the order of the net, if each is released after its last reader."));
}

}  // namespace lowtide
