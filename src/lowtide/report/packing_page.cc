// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/packing_page.h"

#include "lowtide/report/packing_sheet.h"
#include "lowtide/report/page_columns.h"
#include "lowtide/report/page_source.h"

namespace lowtide {

std::string packing_page(const PackingProblem& problem, const Packing& packing, const PackingPageOptions& options) {
  const report_internal::PageSource& source = report_internal::page_source();
  const std::string name = report_internal::name_in_page(options.name);
  std::string out;
  out += source.before_title;
  out += report_internal::html_escaped(name.empty() ? "Packing" : name + " - packing");
  out += source.before_sheets;
  out += "{\"kinds\":[\"movable\",\"fixed\"],\"roles\":[\"temporary\"]";
  report_internal::append_flag_member(out, "verified", options.is_verified);
  report_internal::append_integer_member(out, "shown", 0);
  report_internal::append_json_key(out, "against");
  out += "null";
  report_internal::append_json_key(out, "sheets");
  out += '[';
  report_internal::append_packing_sheet_json(out, problem, packing, options);
  out += "]}";
  out += source.after_sheets;
  return out;
}

}  // namespace lowtide
