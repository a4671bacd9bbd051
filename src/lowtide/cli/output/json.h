// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/analysis/copies_left.h"
#include "lowtide/analysis/peak.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/json_value.h"
#include "lowtide/plan/packing.h"
#include "lowtide/report/shown_step.h"
#include "lowtide/report/summary.h"

// The output of --json; docs/json-output.md explains each key. Keys keep the order in which they are added.
namespace lowtide::cli_internal {

inline constexpr int kJsonSchemaVersion = 1;

// {"schema_version": 1, "tool": "lowtide 0.1.0", "command": command}
[[nodiscard]] Json json_head(std::string_view command);

// A name from a file in the form of plan files: a byte that is not UTF-8 becomes \xNN, a backslash is doubled.
[[nodiscard]] std::string json_text(std::string_view name);

[[nodiscard]] Json json_of(const ModelFacts& model);
// null if there is no step.
[[nodiscard]] Json json_of(const ShownStep& step);
[[nodiscard]] Json json_of(const std::vector<Peak>& peaks, std::size_t top);
[[nodiscard]] Json json_of(const std::vector<std::string>& notes);
// Adds the key `weights` if it is known where they are.
void add_weights(Json& json, const std::optional<Weights>& weights);
[[nodiscard]] Json json_of(const std::vector<CopyLeft>& copies);
// null if the gap is unknown.
[[nodiscard]] Json json_of_gap(Bytes achieved, Bytes bound);

// Prints with an indentation of two spaces and a final line end.
void print_json(Console& console, const Json& json);

}  // namespace lowtide::cli_internal
