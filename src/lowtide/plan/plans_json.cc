// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plans_json.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "lowtide/base/json_reader.h"
#include "lowtide/base/try.h"

namespace lowtide {
namespace {

constexpr std::string_view kPlansFormat = "lowtide.plans";
constexpr std::array<std::string_view, 3> kPlansKeys = {"format", "schema_version", "plans"};

// Whether the text is an object of this format. Anything else is left to the reader of one plan.
bool has_plans_format(std::string_view text) {
  JsonReader json(text, "");
  bool is_plans = false;
  const bool ok = json.read_any_object([&](const std::string& key) {
    if (key != "format") return json.skip_value(1);
    std::string format;
    if (!json.read_name(format)) return false;
    is_plans = format == kPlansFormat;
    return true;
  });
  return ok && is_plans;
}

// The text of each plan.
Result<std::vector<std::string_view>> split(std::string_view text, const std::string& source_name) {
  JsonReader json(text, source_name);
  std::vector<std::string_view> parts;
  const auto read_plan = [&] {
    const std::size_t begin = json.position();
    if (!json.skip_value(2)) return false;
    parts.push_back(text.substr(begin, json.position() - begin));
    if (static_cast<std::int64_t>(parts.size()) <= kMaxPlansPerFile) return true;
    return json.fail(ErrorCode::over_limit,
                     "there are more than " + std::to_string(kMaxPlansPerFile) + " plans (kMaxPlansPerFile)");
  };
  const bool ok = json.read_object(kPlansKeys, [&](std::size_t key) {
    std::string format;
    std::int64_t version = 0;
    if (key == 0) return json.read_name(format);
    if (key == 1) return json.read_integer("schema_version", 1, 1, version);
    return json.read_array(read_plan);
  });
  if (!ok || !json.read_end()) return *json.error();
  if (parts.empty()) return Error{ErrorCode::invalid, "the file has no plan", source_name};
  return parts;
}

}  // namespace

std::string write_plans_json(std::span<const std::string> plans) {
  std::string text = "{\n\"format\": \"" + std::string(kPlansFormat) + "\",\n\"schema_version\": 1,\n\"plans\": [\n";
  for (std::size_t at = 0; at < plans.size(); ++at) {
    std::string_view plan = plans[at];
    while (plan.ends_with('\n')) plan.remove_suffix(1);
    text += plan;
    text += at + 1 < plans.size() ? ",\n" : "\n";
  }
  return text + "]\n}\n";
}

Result<std::vector<PlanFile>> read_plans_json(std::string_view text, const std::string& source_name) {
  std::vector<PlanFile> plans;
  if (!has_plans_format(text)) {
    Result<PlanFile> plan = read_plan_json(text, source_name);
    if (!plan) return plan.error();
    plans.push_back(*std::move(plan));
    return plans;
  }
  LOWTIDE_TRY(const std::vector<std::string_view> parts, split(text, source_name));
  for (std::size_t at = 0; at < parts.size(); ++at) {
    Result<PlanFile> plan = read_plan_json((parts)[at], source_name + ": plan " + std::to_string(at));
    if (!plan) return plan.error();
    plans.push_back(*std::move(plan));
  }
  return plans;
}

}  // namespace lowtide
