// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/open_given.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/commands/run/given_inputs.h"
#include "lowtide/cli/options/costs.h"
#include "lowtide/cli/options/hints.h"
#include "lowtide/cli/options/link_options.h"
#include "lowtide/cli/options/lowering.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/options/size_choices.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/cli/output/tool_name.h"
#include "lowtide/engine/prepared_file.h"

namespace lowtide::cli_internal {
namespace {

// One entry per plan that may run.
std::vector<OpenOptions> read_open_options(const Arguments& arguments, const Interrupt& interrupt) {
  OpenOptions common{.import = read_common_bindings(arguments),
                     .lower = read_kernel_lowering(arguments),
                     .synthetic_seed = read_seed(arguments)};
  common.plan.stop = interrupt.flag();
  common.plan.budget = read_positive_size(arguments, "--budget");
  common.hints = read_hints(arguments);
  common.link = read_link(arguments);
  common.costs = read_costs(arguments);
  const std::optional<int> threads = read_threads(arguments);
  common.cpu.threads = threads.value_or(1);
  const std::vector<SizeChoice> choices = read_size_choices(arguments);
  read_given_types(arguments, common.import);
  // A plan and choices have sizes of their own. The element types count with them as well.
  if (!choices.empty() || arguments.has("--plan")) common.import.given.clear();
  std::vector<OpenOptions> all;
  if (const std::optional<std::string> path = arguments.value("--plan")) {
    if (arguments.has("--without")) stop_usage("--without has no effect with --plan, whose rewrites are used; omit it");
    if (common.costs) stop_usage("--costs has no effect with --plan; omit one of the two");
    if (common.plan.budget) stop_usage("--budget has no effect with --plan; omit one of the two");
    if (!choices.empty()) {
      stop_usage(
          "several values of '--dim' or '--shape' have no effect with --plan, whose extents are used; omit them");
    }
    for (PlanFile& file : choose_plans(read_plans_file(*path), common.import, *path)) {
      OpenOptions& one = all.emplace_back(common);
      add_written_bindings(file.plan.provenance.dims, one.import);
      if (!threads) one.cpu.threads = threads_of(file.plan.provenance.machine_key).value_or(1);
      one.given_plan = std::move(file.plan);
      one.given_labels = std::move(file.labels);
    }
    return all;
  }
  all.assign(std::max<std::size_t>(choices.size(), 1), common);
  for (std::size_t at = 0; at < all.size(); ++at) {
    OpenOptions& one = all[at];
    if (!choices.empty()) add_sizes(choices[at], one.import);
    one.plan.tool = tool_name();
    one.plan.dims = written_bindings(one.import);
    one.import.overrides.merge(possible_inputs(arguments));
  }
  return all;
}

}  // namespace

OpenedRange open_given(const Arguments& arguments, const Interrupt& interrupt, Console& console) {
  const std::string& path = arguments.positional("MODEL");
  check_options_of_prepared(arguments);
  const std::vector<OpenOptions> options = read_open_options(arguments, interrupt);
  const Progress progress(console, "preparing the model");
  Result<OpenedRange> opened = open_members(path, options);
  if (opened && opened->members.front().estimate)
    note_missing_times(arguments, *opened->members.front().estimate, console);
  const bool has_inputs = !arguments.has("--output");  // 'prepare' has none
  if (!opened && has_inputs) opened = with_input_hint(opened.error(), arguments);
  const bool is_hint_useful = !opened && opened.error().code == ErrorCode::io && opened.error().place != path;
  if (!is_hint_useful || options.front().synthetic_seed) return take(std::move(opened));
  Error error = opened.error();
  error.message += "; --synthetic 1 makes up the weights of absent files";
  return take(Result<OpenedRange>(std::move(error)));
}

void check_options_of_prepared(const Arguments& arguments) {
  const std::string& model = arguments.positional("MODEL");
  if (!is_prepared_file(model)) return;
  if (arguments.has("--profile"))
    stop_usage(
        "--profile measures the kernels of a model, and a prepared file has only those of its plan; give the model");
  std::set<std::string_view> choices = {"--dim", "--shape"};  // of a plan of several
  if (has_shapes_of_inputs(arguments)) choices.insert("--shapes");
  for (const char* option : {"--plan", "--budget", "--hints", "--costs", "--link", "--link-latency", "--threads",
                             "--without", "--dim", "--shape", "--shapes", "--at-most", "--init-net"}) {
    if (!arguments.has(option) || (choices.contains(option) && is_prepared_range(model))) continue;
    stop_usage(std::string(option) + " has no effect on a prepared file; give it to 'lowtide prepare'");
  }
}

void refuse_several_plans(const Arguments& arguments) {
  const std::string& model = arguments.positional("MODEL");
  const bool has_choice =
      arguments.has("--dim") || arguments.has("--shape") || has_shapes_of_inputs(arguments) || arguments.has("--input");
  if (has_choice || !is_prepared_range(model)) return;
  stop_usage(shown_path(model) +
             " has several plans, and this command runs one; choose it with --dim, --shape or --input");
}

void check_fits(const OpenedModel& opened, std::string_view what_is_left_out) {
  if (opened.shortfall == Bytes(0)) return;
  throw Stop(ExitCode::no, "the plan exceeds the budget by " + format_bytes(opened.shortfall) + "; nothing " +
                               std::string(what_is_left_out) +
                               ". 'lowtide plan --target cpu' with the same budget says what is proven");
}

}  // namespace lowtide::cli_internal
