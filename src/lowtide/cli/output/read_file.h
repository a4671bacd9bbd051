// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/plan/plan_json.h"

namespace lowtide::cli_internal {

// The content of a regular file of at most `most_bytes`; "-" is stdin. Pipes and devices are refused, because opening
// them could wait forever. Errors: io, over_limit.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::int64_t most_bytes);

// How messages name the file: "stdin" for "-".
[[nodiscard]] std::string name_of_file(const std::string& path);

// The plan in such a file. Throws Stop with the error if there is none.
[[nodiscard]] PlanFile read_plan_file(const std::string& path);
// The same for a file that may have several plans.
[[nodiscard]] std::vector<PlanFile> read_plans_file(const std::string& path);

}  // namespace lowtide::cli_internal
