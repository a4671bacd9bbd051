// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/profiled_times.h"

#include <array>
#include <cstdio>
#include <string>

#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

std::string in_ms(double ms) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), ms < 10 ? "%.3f ms" : "%.1f ms", ms);
  return text.data();
}

}  // namespace

StyledText profiled_times_summary(const ProfiledFigures& figures) {
  StyledText out("Times as AITemplate sees them", Style::heading);
  out.end_line();
  out.append(report_internal::paragraph(counted(figures.nodes, "node") + " take " + in_ms(figures.one_stream_ms) +
                                        " on one stream, and " + in_ms(figures.all_streams_ms) + " in " +
                                        counted(figures.waves, "wave") + " on as many streams as they can use."));
  return out.append(report_internal::paragraph("70 % of the times are below " + in_ms(figures.percentile_70_ms) +
                                               ", 90 % below " + in_ms(figures.percentile_90_ms) + ", and 95 % below " +
                                               in_ms(figures.percentile_95_ms) + ". The longest is " +
                                               in_ms(figures.longest_ms) + "."));
}

}  // namespace lowtide
