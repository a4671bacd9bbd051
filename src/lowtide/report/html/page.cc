// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/page.h"

#include <cstddef>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/report/html/page_columns.h"
#include "lowtide/report/html/page_sheet.h"
#include "lowtide/report/html/page_source.h"

namespace lowtide {
namespace {

// Columns hold the numbers of enum values; these are their names.
template <typename Enum>
void add_enum(JsonWriter& json, std::string_view key) {
  report_internal::add_strings(json, key, {kEnumNames<Enum>.begin(), kEnumNames<Enum>.end()});
}

// {"kinds":[...],"roles":[...],"verified":true,"shown":0,"against":null or the index of a sheet,"sheets":[...]}
void append_page_json(std::string& out, const NamedPlan& shown, const PageOptions& options) {
  std::vector<report_internal::Sheet> sheets;
  report_internal::append_sheets(sheets, shown.plan, shown.labels, options.graph);
  for (report_internal::Sheet& sheet : sheets) {
    for (const PlanProof& proof : options.proofs) {
      if (proof.plan == sheet.plan) sheet.proof = &proof;
    }
  }
  sheets.front().costs = options.costs;
  sheets.front().measured = options.measured;
  sheets.front().quantized = options.quantized;
  sheets.front().lowering = options.lowering;
  sheets.front().copies = options.copies;
  sheets.front().kept = options.kept;
  sheets.front().verdict = options.verdict;
  const std::size_t against_at = sheets.size();
  if (options.against != nullptr) {
    report_internal::append_sheets(sheets, options.against->plan, options.against->labels);
  }
  JsonWriter json(out, JsonWriter::Style::script);
  json.begin_object();
  add_enum<BufferKind>(json, "kinds");
  add_enum<Role>(json, "roles");
  json.member("verified", options.is_verified);
  json.member("shown", std::int64_t{0});
  json.key("against");
  if (options.against != nullptr) {
    json.value(static_cast<std::int64_t>(against_at));
  } else {
    json.null();
  }
  json.key("sheets");
  json.begin_array(JsonWriter::Layout::lines);
  for (const report_internal::Sheet& sheet : sheets) report_internal::write_sheet(json, sheet);
  json.end_array();
  json.end_object();
}

}  // namespace

std::string page(const NamedPlan& shown, const PageOptions& options) {
  const report_internal::PageSource& source = report_internal::page_source();
  const Provenance& provenance = shown.plan.provenance;
  const std::string name =
      report_internal::name_in_page(provenance.model.empty() ? provenance.graph : provenance.model);
  std::string out;
  out += source.before_title;
  out += report_internal::html_escaped(name.empty() ? "Memory plan" : name + " - memory plan");
  out += source.before_sheets;
  append_page_json(out, shown, options);
  out += source.after_sheets;
  return out;
}

}  // namespace lowtide
