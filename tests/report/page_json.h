// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "lowtide/report/page.h"
#include "tests/report/page_plans.h"

// What a page embeds.
namespace lowtide {

using Json = nlohmann::json;

inline std::string page_of(const PlanSketch& shown, const PlanSketch* against = nullptr) {
  if (against == nullptr) return page({shown.plan, shown.labels});
  const NamedPlan other{against->plan, against->labels};
  return page({shown.plan, shown.labels}, {.against = &other});
}

// Returns the text between `begin` and the next `end`.
inline std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "(no " + std::string(begin) + ")";
  const std::size_t start = from + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

inline std::string embedded(const std::string& html) { return between(html, R"(id="sheets">)", "</script>"); }
inline Json embedded_json(const std::string& html) { return Json::parse(embedded(html)); }

}  // namespace lowtide
