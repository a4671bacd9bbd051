// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/copies.h"

#include <algorithm>
#include <string>

#include "lowtide/report/text/figures.h"

namespace lowtide {

std::string_view reason_text(CopyReason reason) {
  switch (reason) {
    case CopyReason::reorders: return "gives the elements another order";
    case CopyReason::pieces: return "a part is not one run of bytes in the whole";
    case CopyReason::unknown: return "a size or position is known only during the run";
    case CopyReason::format: return "two kernels have different formats";
    case CopyReason::outside: return "the bytes are the caller's or constants";
    case CopyReason::output: return "both tensors are needed at the end";
    case CopyReason::elsewhere: return "the bytes are a part of another tensor";
    case CopyReason::state: return "writes the next content of a state";
    case CopyReason::region: return "moves to another region";
    case CopyReason::chosen: return "no plan that was tried is smaller without the copy";
  }
  return "";
}

StyledText copies_text(const std::vector<CopyLeft>& copies, const SummaryOptions& options) {
  using Align = TextTable::Align;
  if (copies.empty()) return report_internal::paragraph("No step only moves bytes.");
  Bytes sum;
  for (const CopyLeft& one : copies) sum += one.bytes;
  StyledText out =
      report_internal::paragraph(counted(static_cast<std::int64_t>(copies.size()), "step") +
                                 (copies.size() == 1 ? " only moves " : " only move ") + format_bytes(sum) +
                                 ". The others compute, or their results share the "
                                 "bytes of their operands.");
  const std::size_t columns = report_internal::node_columns(options.wide);
  const std::size_t shown = std::min(options.top, copies.size());
  TextTable table({Align::right, Align::right, Align::left, Align::left});
  table.add_row({"bytes", "step", "node", "why"});
  for (std::size_t at = 0; at < shown; ++at) {
    const CopyLeft& one = copies[at];
    std::string node = report_internal::node_text({.name = one.name, .op = one.op}, "", columns);
    if (!one.inside.empty()) node += " in " + shown_name(one.inside, columns);
    table.add_row({with_thousands(one.bytes.count()) + " B", with_thousands(one.step.value()), node,
                   std::string(reason_text(one.reason))});
  }
  out.append(table.text());
  if (shown < copies.size())
    out.add("  and " + counted(static_cast<std::int64_t>(copies.size() - shown), "other step")).end_line();
  return out;
}

}  // namespace lowtide
