// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/html/page_verdict.h"

#include "lowtide/report/html/page_columns.h"
#include "lowtide/report/text/recomputation_text.h"
#include "lowtide/report/text/verdict_text.h"

namespace lowtide::report_internal {
namespace {

void add_recomputed(JsonWriter& json, const Recomputation& found) {
  json.key("recomputed");
  json.begin_object();
  json.member("base", found.base_picoseconds);
  json.member("picoseconds", found.picoseconds);
  json.member("bound", found.bound_picoseconds);
  json.member("bound_kind", to_string(found.bound_kind));
  json.member("stall", found.stall_picoseconds);
  json.member("words", recomputation_time(found));
  json.end_object();
}

}  // namespace

void add_verdict(JsonWriter& json, const NamedPlan& shown, const PlanVerdict& verdict) {
  const std::vector<std::string> words = verdict_paragraphs(shown, verdict);
  if (!verdict.capacity) {
    if (!words.empty()) add_strings(json, "proven", words);
    return;
  }
  const bool fits = verdict.shortfall == Bytes(0);
  json.key("verdict");
  json.begin_object();
  json.member("limit", *verdict.capacity);
  json.member("is_budget", verdict.is_budget_the_limit);
  json.member("counts_weights", verdict.counts_weights);
  json.member("counted", verdict.counted);
  json.key("fits");
  if (fits && !counts_all(shown.plan.claims)) {
    json.null();
  } else {
    json.value(fits);
  }
  json.member("shortfall", verdict.shortfall);
  json.member("is_proven",
              !fits && !verdict.quantized && (verdict.proven_infeasible || is_recomputation_infeasible(verdict)));
  add_strings(json, "words", words);
  json.end_object();
  const std::optional<Recomputation>& found = verdict.recomputation;
  if (found && found->outcome == BudgetOutcome::found) add_recomputed(json, *found);
}

}  // namespace lowtide::report_internal
