// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/packing_page.h"

#include "lowtide/report/html/packing_sheet.h"
#include "lowtide/report/html/page_columns.h"
#include "lowtide/report/html/page_source.h"

namespace lowtide {

std::string packing_page(const PackingProblem& problem, const Packing& packing, const PackingPageOptions& options) {
  const report_internal::PageSource& source = report_internal::page_source();
  const std::string name = report_internal::name_in_page(options.name);
  std::string out;
  out += source.before_title;
  out += report_internal::html_escaped(name.empty() ? "Packing" : name + " - packing");
  out += source.before_sheets;
  JsonWriter json(out, JsonWriter::Style::script);
  json.begin_object();
  report_internal::add_strings(json, "kinds", {"movable", "fixed"});
  report_internal::add_strings(json, "roles", {"temporary"});
  json.member("verified", options.is_verified);
  json.member("shown", std::int64_t{0});
  json.key("against");
  json.null();
  json.key("sheets");
  json.begin_array();
  report_internal::write_packing_sheet(json, problem, packing, options);
  json.end_array();
  json.end_object();
  out += source.after_sheets;
  return out;
}

}  // namespace lowtide
