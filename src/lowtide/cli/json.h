// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/analysis/peak.h"
#include "lowtide/cli/console.h"
#include "lowtide/plan/packing.h"
#include "lowtide/report/shown_step.h"
#include "lowtide/report/summary.h"

// What --json prints; docs/json-output.md says what each key means. Keys stay in the order written, bytes are integers.
namespace lowtide::cli_internal {

using Json = nlohmann::ordered_json;

inline constexpr int kJsonSchemaVersion = 1;

// {"schema_version": 1, "tool": "lowtide 0.1.0", "command": command}
[[nodiscard]] Json json_head(std::string_view command);

// A name from a file, as plan files hold it: a byte that is not UTF-8 is \xNN, a backslash is two.
[[nodiscard]] std::string json_text(std::string_view name);

[[nodiscard]] Json json_of(const ModelFacts& model);
// null if there is no step.
[[nodiscard]] Json json_of(const ShownStep& step);
[[nodiscard]] Json json_of(const std::vector<Peak>& peaks, std::size_t top);
[[nodiscard]] Json json_of(const std::vector<std::string>& notes);
// null where nothing can be said.
[[nodiscard]] Json json_of_gap(Bytes achieved, Bytes bound);

// Two blanks of indentation and a line end.
void print_json(Console& console, const Json& json);

}  // namespace lowtide::cli_internal
