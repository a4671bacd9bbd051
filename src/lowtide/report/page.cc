// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/page.h"

#include <array>
#include <cstddef>
#include <vector>

#include "lowtide/report/page_sheet.h"
#include "lowtide/report/page_source.h"
#include "lowtide/report/page_text.h"

namespace lowtide {
namespace {

constexpr std::array kBufferKinds = {BufferKind::input,  BufferKind::constant,  BufferKind::state,
                                     BufferKind::output, BufferKind::temporary, BufferKind::scratch};
constexpr std::array kRoles = {Role::input, Role::output, Role::constant, Role::state, Role::temporary};

// Names of an enumeration's values, in the order of their numbers: the columns hold the numbers.
template <typename Values>
void append_enumeration(std::string& out, std::string_view key, const Values& values) {
  std::vector<std::string> names(values.size());
  for (const auto value : values) names[static_cast<std::size_t>(value)] = std::string(to_string(value));
  report_internal::append_json_key(out, key);
  report_internal::append_json_strings(out, names);
}

// {"kinds":[...],"roles":[...],"verified":true,"shown":0,"against":null or the index of a sheet,"sheets":[...]}
void append_page_json(std::string& out, const NamedPlan& shown, const PageOptions& options) {
  const NamedPlan* const against = options.against;
  std::vector<report_internal::Sheet> sheets;
  report_internal::append_sheets(sheets, shown.plan, shown.labels);
  const std::size_t against_at = sheets.size();
  if (against != nullptr) report_internal::append_sheets(sheets, against->plan, against->labels);

  out += '{';
  append_enumeration(out, "kinds", kBufferKinds);
  append_enumeration(out, "roles", kRoles);
  report_internal::append_json_key(out, "verified");
  out += options.is_verified ? "true" : "false";
  report_internal::append_json_key(out, "shown");
  out += '0';
  report_internal::append_json_key(out, "against");
  out += against != nullptr ? std::to_string(against_at) : "null";
  report_internal::append_json_key(out, "sheets");
  out += '[';
  for (std::size_t at = 0; at < sheets.size(); ++at) {
    if (at != 0) out += ",\n";
    report_internal::append_sheet_json(out, sheets[at]);
  }
  out += "]}";
}

}  // namespace

std::string page(const NamedPlan& shown, const PageOptions& options) {
  const report_internal::PageSource& source = report_internal::page_source();
  const std::string graph = report_internal::name_in_page(shown.plan.provenance.graph);
  std::string out;
  out += source.before_title;
  out += report_internal::html_escaped(graph.empty() ? "Memory plan" : graph + " - memory plan");
  out += source.before_sheets;
  append_page_json(out, shown, options);
  out += source.after_sheets;
  return out;
}

}  // namespace lowtide
