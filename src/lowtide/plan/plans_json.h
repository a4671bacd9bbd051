// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide {

inline constexpr std::int64_t kMaxPlansPerFile = 16;

// A file with several plans of one model, for other values of a symbol:
//
//   {"format": "lowtide.plans", "schema_version": 1, "plans": [...]}     each as write_plan_json writes it
//
// Requires: each text is that of write_plan_json. O(length of the texts).
[[nodiscard]] std::string write_plans_json(std::span<const std::string> plans);

// Reads such a file, or a file with one plan. Errors: those of read_plan_json, with the number of the plan in the
// place; (over_limit) more than kMaxPlansPerFile plans; (invalid) no plan. O(length of the text).
[[nodiscard]] Result<std::vector<PlanFile>> read_plans_json(std::string_view text, const std::string& source_name);

}  // namespace lowtide
