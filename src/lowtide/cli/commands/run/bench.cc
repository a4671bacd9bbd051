// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/analysis/copies_left.h"
#include "lowtide/cli/commands/run/given_inputs.h"
#include "lowtide/cli/commands/run/handlers.h"
#include "lowtide/cli/commands/run/measure.h"
#include "lowtide/cli/commands/run/open_given.h"
#include "lowtide/cli/commands/run/outside.h"
#include "lowtide/cli/commands/run/step_figures.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/costs.h"
#include "lowtide/cli/options/hints.h"
#include "lowtide/cli/options/link_options.h"
#include "lowtide/cli/options/lowering.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/engine/engine.h"
#include "lowtide/engine/measure_kernels.h"
#include "lowtide/engine/process.h"
#include "lowtide/report/copies.h"
#include "lowtide/report/page.h"
#include "lowtide/runtime/inspect.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::int64_t kDefaultRuns = 100;
constexpr std::int64_t kMostRuns = 1'000'000;
constexpr std::int64_t kMostTimedRuns = 20;                     // with a time per operator
constexpr std::int64_t kMostBytesSeen = std::int64_t{1} << 33;  // steps x arena of a poisoned run, a few seconds

struct Unlimited {  // the plan without a budget
  RunTimes times;
  PlanEstimate estimate;
};

struct Measured {
  OpenedModel model;
  double open_ms = 0;           // from the file to a model that is ready to run
  Bytes constants;              // that a run reads
  Bytes packed;                 // the part of them that load-time work made
  Bytes scratch;                // the most of one step
  std::optional<Bytes> growth;  // of the process, without the constants
  Bytes high_water;             // of the arena
  RunTimes times;
  StepTimes steps;
  std::vector<StepFigures> figures;  // of the steps
  std::vector<CopyLeft> copies;
  PageMeasurement page;                               // only with --html
  std::optional<Unlimited> unlimited = std::nullopt;  // only with --budget
};

using Times = std::shared_ptr<const KernelTimes>;

OpenOptions options_for_bench(const Arguments& arguments, std::optional<Bytes> budget, const Times& times) {
  OpenOptions options{
      .import = read_bindings(arguments), .lower = read_kernel_lowering(arguments), .synthetic_seed = kSeed};
  options.import.overrides = possible_inputs(arguments);
  read_given_types(arguments, options.import);
  options.cpu.threads = read_threads(arguments).value_or(1);
  options.plan.budget = budget;
  // Without --budget, each of the two stops with the reason. The baseline is a plan without a budget, and uses neither.
  std::vector<HintRequest> hints = read_hints(arguments);
  const std::optional<TransferLink> link = read_link(arguments);
  if (budget) {
    options.hints = std::move(hints);
    options.link = link;
  }
  options.costs = times;
  return options;
}

OpenedModel open_for_bench(const Arguments& arguments, const OpenOptions& options, Console& console) {
  const Progress progress(console, "preparing the model");
  Result<OpenedModel> opened = open_model(arguments.positional("MODEL"), options);
  if (!opened) opened = with_input_hint(opened.error(), arguments);
  return take(std::move(opened));
}

// Measures the kernels for --profile, and writes them to its file, beside those of other models that it has.
Times profile_kernels(const Arguments& arguments, const OutputFiles& files, Console& console) {
  const std::string path = *arguments.value("--profile");
  KernelTimes all{.machine_key = texts_of(machine_key(options_for_bench(arguments, std::nullopt, nullptr).cpu))};
  if (std::error_code ignored; std::filesystem::exists(path, ignored)) all = read_times_file(path);
  GivenInputs inputs;
  MeasureOptions measuring;
  measuring.bind_inputs = [&](Session& session) -> Result<void> {
    inputs = bind_inputs(arguments, kSeed, session);
    return {};
  };
  const KernelTimes measured = [&] {
    const Progress progress(console, "measuring kernels");
    return take(
        measure_kernels(arguments.positional("MODEL"), options_for_bench(arguments, std::nullopt, nullptr), measuring));
  }();
  const Result<void> added = add_times(all, measured);
  if (!added) throw Stop(ExitCode::bad_input, name_of_file(path) + ": " + added.error().message);
  files.write(path, print_kernel_times(all), console);
  return std::make_shared<const KernelTimes>(std::move(all));
}

// Adds the constants that load-time work made and a run reads. Bodies may share some. Recursion only over bodies.
void add_packed(const Graph& graph, const ConstantTable& table, std::set<ConstantId>& packed) {
  for (const Tensor& tensor : graph.tensors()) {
    if (!tensor.constant || !table.sources.contains(*tensor.constant)) continue;
    if (std::holds_alternative<ConstantSource::Computed>(table.sources[*tensor.constant].where))
      packed.insert(*tensor.constant);
  }
  for (const Node& node : graph.nodes()) {
    for (const Body& body : node.bodies) add_packed(*body.graph, table, packed);
  }
}

Bytes packed_bytes(const Executable& executable) {
  const ConstantTable& table = executable.weights().table();
  std::set<ConstantId> packed;
  add_packed(executable.graph(), table, packed);
  Bytes sum;
  for (const ConstantId id : packed) sum += table.sources[id].size;
  return sum;
}

Bytes most_scratch(const Layout& layout) {
  Bytes most;
  for (const auto& step : layout.steps) {
    if (step.scratch) most = std::max(most, layout.buffers[*step.scratch].size);
  }
  return most;
}

// The times of the steps, and what a poisoned run sees of each buffer, unless that takes too long.
PageMeasurement measure_page(const Executable& executable, const GivenInputs& inputs,
                             const IdVector<StepId, double>& milliseconds) {
  PageMeasurement page;
  for (const double time : milliseconds) page.nanoseconds.push_back(std::llround(time * 1e6));
  const auto steps = static_cast<std::int64_t>(milliseconds.size());
  const std::int64_t arena = std::max<std::int64_t>(executable.required_bytes().count(), 1);
  if (steps > kMostBytesSeen / arena) return page;
  const RunInspection inspection = take(run_poisoned(executable, inputs.tensors));
  for (const std::optional<Bytes>& seen : inspection.seen_buffers) page.seen.push_back(seen ? seen->count() : -1);
  return page;
}

// No output may replace a file that is read.
void protect_inputs(const Arguments& arguments, const Executable& executable, const OutputFiles& files) {
  std::vector<std::string> read = weight_files(arguments.positional("MODEL"), executable.weights().table());
  for (const auto& [name, file] : read_input_files(arguments, executable.inputs())) read.push_back(file);
  files.protect(read);
}

// Measures the plan without a budget. Its memory is given back before the other plan is measured.
Unlimited time_unlimited(const Arguments& arguments, std::int64_t runs, const Times& times, Console& console) {
  const OpenedModel model = open_for_bench(arguments, options_for_bench(arguments, std::nullopt, times), console);
  const Arena arena = take(Arena::allocate(model.executable->required_bytes()));
  Session session = take(Session::open(model.executable, arena));
  const GivenInputs inputs = bind_inputs(arguments, kSeed, session);
  take(session.check_files());
  RunTimes measured = time_runs(session, runs);
  take(session.check_files());
  return {std::move(measured), model.estimate.value_or(PlanEstimate{})};
}

Measured measure(const Arguments& arguments, std::int64_t runs, const OutputFiles& files, Console& console) {
  check_options_of_prepared(arguments);
  refuse_several_plans(arguments);
  initialize();
  configure_process({.kernels = {.keeps_runs_off_heap = true}, .catches_file_faults = true});
  const std::optional<Bytes> budget = read_positive_size(arguments, "--budget");
  const Times times = arguments.has("--profile") ? profile_kernels(arguments, files, console) : read_costs(arguments);
  const OpenOptions options = options_for_bench(arguments, budget, times);
  const std::optional<ProcessMemory> before = process_memory();
  const Stopwatch watch;
  Measured measured{.model = open_for_bench(arguments, options, console)};
  measured.open_ms = watch.seconds() * 1e3;
  check_fits(measured.model);
  refuse_planned_defaults(arguments, measured.model.default_inputs);
  const Executable& executable = *measured.model.executable;
  protect_inputs(arguments, executable, files);
  const Arena arena = take(Arena::allocate(executable.required_bytes()));
  Session session =
      take(Session::open(measured.model.executable, arena, {.outside = read_outside(arguments, executable, console)}));
  const GivenInputs inputs = bind_inputs(arguments, kSeed, session);
  take(session.check_files());
  measured.times = time_runs(session, runs);
  take(session.check_files());
  const std::optional<ProcessMemory> after = process_memory();
  measured.constants = executable.memory().mapped + executable.memory().copied;
  if (before && after) measured.growth = after->high_water - before->resident - measured.constants;
  measured.packed = packed_bytes(executable);
  measured.scratch = most_scratch(executable.plan().layout);
  measured.steps = time_steps(session, std::min(runs, kMostTimedRuns));
  measured.figures = step_figures(executable, measured.steps.of_each);
  measured.copies = copies_left(executable.graph(), executable.plan());
  if (arguments.has("--html")) measured.page = measure_page(executable, inputs, measured.steps.of_each);
  measured.page.runs = std::min(runs, kMostTimedRuns);
  measured.high_water = written_bytes(session, arena);
  if (budget) measured.unlimited = time_unlimited(arguments, runs, times, console);
  return measured;
}

// By which share a figure exceeds another; nullopt if that is 0.
std::optional<double> overhead(double more, double base) {
  return base > 0 ? std::optional((more - base) / base) : std::nullopt;
}

// What reruns, other kernels and other rewrites cost, by the costs that the plans were made with. Requires: both plans
// were made here.
std::optional<double> estimated_overhead(const Measured& measured) {
  return overhead(static_cast<double>(measured.model.estimate->picoseconds),
                  static_cast<double>(measured.unlimited->estimate.picoseconds));
}

// Whether costs of the plan are measured times.
bool is_measured(const OpenedModel& model) { return model.estimate && model.estimate->measured > 0; }

Json json_of_budget(const Measured& measured) {
  if (!measured.unlimited) return nullptr;
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  const double base = measured.unlimited->times.percentile(50);
  std::int64_t reruns = 0;
  if (measured.model.recomputation) {
    for (const Rerun& rerun : measured.model.recomputation->reruns) reruns += rerun.times;
  }
  return {{"reruns", reruns},
          {"cost_model", is_measured(measured.model) ? "measured" : "plain"},
          {"estimated_overhead", or_null(estimated_overhead(measured))},
          {"measured_overhead", or_null(overhead(measured.times.percentile(50), base))},
          {"latency_without_ms", base}};
}

// The part of a run that is outside of kernels, from 0 to 1.
double outside_share(const Measured& measured) {
  return measured.steps.run > 0 ? measured.steps.outside() / measured.steps.run : 0;
}

Json json_of_measured(const Measured& measured) {
  const auto or_null = [](const auto& value, auto number) { return value ? Json(number(*value)) : Json(nullptr); };
  const RunTimes& times = measured.times;
  Json json = json_head("bench");
  json["latency_ms"] = {{"p50", times.percentile(50)},
                        {"p90", times.percentile(90)},
                        {"p99", times.percentile(99)},
                        {"min", times.milliseconds.front()}};
  json["estimate"] = measured.model.estimate ? json_of(*measured.model.estimate) : Json(nullptr);
  json["outside_kernels"] = {{"ms", measured.steps.outside()}, {"share", outside_share(measured)}};
  json["open_ms"] = measured.open_ms;
  json["bytes"] = {{"arena", measured.model.executable->required_bytes().count()},
                   {"weights", measured.constants.count()},
                   {"packed", measured.packed.count()},
                   {"scratch", measured.scratch.count()},
                   {"process_growth", or_null(measured.growth, [](Bytes bytes) { return bytes.count(); })},
                   {"high_water", measured.high_water.count()}};
  json["budget"] = json_of_budget(measured);
  json["allocations_per_run"] = or_null(times.allocations, [](std::int64_t count) { return count; });
  json["nodes"] = {{"model", measured.model.model_nodes},
                   {"lowered", measured.model.executable->graph().total_nodes()}};
  json["copies"] = json_of(measured.copies);
  for (std::size_t at = 0; at < measured.copies.size(); ++at) {
    const CopyLeft& one = measured.copies[at];
    json["copies"][at]["ms"] = one.inside.empty() ? Json(measured.steps.of_each[one.step]) : Json(nullptr);
  }
  json["operators"] = json_of_operators(measured.figures);
  json["steps"] = json_of_steps(measured.figures);
  return json;
}

// Estimated and measured time, side by side.
StyledText budget_text(const Measured& measured) {
  if (!measured.unlimited) return {};
  const auto shown = [](const std::optional<double>& share) {
    if (!share) return std::string("unknown");
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%+.1f %%", 100 * *share);
    return std::string(text.data());
  };
  const double base = measured.unlimited->times.percentile(50);
  StyledText out;
  out.add("budget   ", Style::strong);
  out.add("estimated " + shown(estimated_overhead(measured)) + " " + costs_text(*measured.model.estimate) +
          "; measured " + shown(overhead(measured.times.percentile(50), base)) + ": p50 " +
          time_text(measured.times.percentile(50)) + " with the budget, " + time_text(base) + " without");
  return out.end_line();
}

StyledText text_of(const Measured& measured) {
  const RunTimes& times = measured.times;
  StyledText out;
  out.add("latency  ", Style::strong);
  out.add("p50 " + time_text(times.percentile(50)) + ", p90 " + time_text(times.percentile(90)) + ", p99 " +
          time_text(times.percentile(99)) + ", min " + time_text(times.milliseconds.front()) + ", of " +
          counted(static_cast<std::int64_t>(times.milliseconds.size()), "run"));
  out.end_line();
  if (is_measured(measured.model)) {
    const PlanEstimate& estimate = *measured.model.estimate;
    out.add("estimate ", Style::strong);
    out.add(time_text(static_cast<double>(estimate.picoseconds) * 1e-9) + " " + costs_text(estimate));
    out.end_line();
  }
  std::array<char, 32> share{};
  std::snprintf(share.data(), share.size(), "%.2f %%", 100 * outside_share(measured));
  out.add("outside  ", Style::strong);
  out.add(std::string(share.data()) + " of a run, " + time_text(measured.steps.outside()) +
          ", is outside of kernels, with the clocks that measure it");
  out.end_line();
  out.add("open     ", Style::strong);
  out.add(time_text(measured.open_ms) + " from the file to a model that is ready to run");
  out.end_line();
  out.append(budget_text(measured));
  out.add("memory   ", Style::strong);
  out.add("arena " + format_bytes(measured.model.executable->required_bytes()) + " (written up to " +
          format_bytes(measured.high_water) + "), scratch " + format_bytes(measured.scratch) + ", weights " +
          format_bytes(measured.constants) + " (" + format_bytes(measured.packed) + " packed)");
  out.end_line();
  out.add("process  ", Style::strong);
  out.add(measured.growth ? "grew by " + format_bytes(*measured.growth) + " beyond the weights"
                          : "growth is not known here");
  out.add(times.allocations ? "; " + counted(*times.allocations, "allocation") + " per run" : "");
  out.end_line();
  out.add("nodes    ", Style::strong);
  out.add(with_thousands(measured.model.model_nodes) + " in the model, " +
          with_thousands(measured.model.executable->graph().total_nodes()) + " after lowering");
  out.end_line().end_line();
  out.append(operators_text(measured.figures));
  if (measured.copies.empty()) return out;
  out.end_line();
  return out.append(copies_text(measured.copies));
}

OutputFiles check_outputs(const Arguments& arguments) {
  std::vector<std::string> destinations;
  for (const char* option : {"--html", "--profile"}) {
    if (const std::optional<std::string> file = arguments.value(option)) destinations.push_back(*file);
  }
  std::vector<std::string> inputs = {arguments.positional("MODEL")};
  for (const char* option : {"--hints", "--costs"}) {
    if (const std::optional<std::string> file = arguments.value(option)) inputs.push_back(*file);
  }
  return {destinations, inputs, arguments.has("--json")};
}

// The plan that ran, with what was measured.
std::string page_of(const Measured& measured) {
  const Executable& executable = *measured.model.executable;
  const Labels labels = labels_of(executable.graph());
  return page(
      {executable.plan(), labels},
      {.is_verified = true, .graph = &executable.graph(), .measured = &measured.page, .copies = &measured.copies});
}

}  // namespace

ExitCode run_bench(const Arguments& arguments, Console& console) {
  const std::int64_t runs = read_count(arguments, "--runs", 1, kMostRuns).value_or(kDefaultRuns);
  const std::optional<std::string> page_file = arguments.value("--html");
  const OutputFiles files = check_outputs(arguments);
  if (files.uses_stdout()) console.keep_stdout_free();
  const Measured measured = measure(arguments, runs, files, console);
  console.notes(measured.model.notes);
  if (measured.model.estimate) note_missing_times(arguments, *measured.model.estimate, console);
  if (page_file) files.write(*page_file, page_of(measured), console);
  if (arguments.has("--json")) {
    print_json(console, json_of_measured(measured));
  } else {
    console.result(text_of(measured));
  }
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
