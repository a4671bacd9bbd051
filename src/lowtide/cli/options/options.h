// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/import/import.h"
#include "lowtide/pipeline/budget_request.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/target/target.h"

// Converts the values of options. Every invalid value stops with a usage error that shows a valid one.
namespace lowtide::cli_internal {

// Whether the text is a whole number above 2^63 - 1, and what a message says of it.
[[nodiscard]] bool is_too_large(std::string_view text);
inline constexpr std::string_view kTooLarge = " is too large; the largest number is 2^63 - 1";

// A size such as "64MiB"; nullopt if the option was not given.
[[nodiscard]] std::optional<Bytes> read_size(const Arguments& arguments, std::string_view option);

// A size above 0; nullopt if the option was not given.
[[nodiscard]] std::optional<Bytes> read_positive_size(const Arguments& arguments, std::string_view option);

// --budget, --curve and --points as one request. Options that a command does not have are not given.
[[nodiscard]] BudgetRequest read_budget(const Arguments& arguments);

// A whole number from `least` to `most`; nullopt if the option was not given.
[[nodiscard]] std::optional<std::int64_t> read_count(const Arguments& arguments, std::string_view option,
                                                     std::int64_t least,
                                                     std::int64_t most = std::numeric_limits<std::int64_t>::max());

// --points, the number of budgets of a curve; nullopt if the option was not given.
[[nodiscard]] std::optional<std::int64_t> read_points(const Arguments& arguments);

// --dim NAME=EXTENT, --shape INPUT=AxBxC ("?" keeps the extent of the file), --at-most NAME=N and --override INPUT. The
// last "=" separates name and value.
[[nodiscard]] ImportOptions read_bindings(const Arguments& arguments);

// Whether the model of a plan has the operators that run, whatever the file has (ImportOptions::to_run): plans for this
// machine have.
[[nodiscard]] bool is_to_run(const Arguments& arguments);

// read_bindings() refuses options with several values (size_choices.h). This leaves them out.
[[nodiscard]] ImportOptions read_common_bindings(const Arguments& arguments);

// The sizes of each run of --then, such as "batch=8" or "x=8x3x224x224,label=8x1": those of `first` with these
// changes. A plain number sets a symbolic extent if the model `has_symbols`, and otherwise the shape of a tensor.
[[nodiscard]] std::vector<ImportOptions> read_later_runs(const Arguments& arguments, const ImportOptions& first,
                                                         bool has_symbols);

// Bindings in the form of a plan file, sorted: "batch=8" for --dim, "x=[1,3,?,?]" for --shape, "frames<=500" for
// --at-most, "w=?" for --override.
[[nodiscard]] std::vector<std::string> written_bindings(const ImportOptions& bindings);
// The plans whose bindings do not contradict those of the command line. Stops with an error that lists the bindings of
// all plans if there is none. `path` is that of the file.
[[nodiscard]] std::vector<PlanFile> choose_plans(std::vector<PlanFile> plans, const ImportOptions& given,
                                                 const std::string& path);
// "'batch=8' and 'x=[1,3,?,?]'", or "the sizes of the file" without bindings.
[[nodiscard]] std::string shown_bindings(const std::vector<std::string>& bindings);
// Adds the bindings of a plan file to those of the command line, which take precedence. Ignores lines of another form.
void add_written_bindings(const std::vector<std::string>& written, ImportOptions& bindings);
// The same, but any size of the command line takes precedence, also one of an input over that of its symbols.
void add_planned_sizes(const std::vector<std::string>& written, ImportOptions& bindings);

// The options that rule out plans which the bound covers (ExplanationFacts::forbidden).
[[nodiscard]] std::string forbidden_text(const PlanOptions& options);

// The options of a plan on one stream that several commands have: the order, its effort, and what shares bytes.
[[nodiscard]] PlanOptions read_plan_options(const Arguments& arguments);

// The threads of a run by --threads, or nullopt.
[[nodiscard]] std::optional<int> read_threads(const Arguments& arguments);

// The target of --target FILE, or a built-in one: `cpu` with --threads, or without --target `dense`.
[[nodiscard]] Target read_target(const Arguments& arguments);

// Names the operators of the target that Lowtide does not know and that no node of the graph has.
void remark_unknown_operators(const Target& target, const Graph& graph, Console& console);

}  // namespace lowtide::cli_internal
