// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "lowtide/adapt/lower_for_machine.h"
#include "lowtide/adapt/lowering_facts.h"
#include "lowtide/adapt/model_hints.h"
#include "lowtide/analysis/packing_of.h"
#include "lowtide/base/limits.h"
#include "lowtide/cli/commands/plan/plan_curve.h"
#include "lowtide/cli/commands/plan/plan_output.h"
#include "lowtide/cli/commands/plan/plan_range.h"
#include "lowtide/cli/commands/plan/recomputation.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/model/quantized.h"
#include "lowtide/cli/options/costs.h"
#include "lowtide/cli/options/hints.h"
#include "lowtide/cli/options/link_options.h"
#include "lowtide/cli/options/lowering.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/options/size_choices.h"
#include "lowtide/cli/options/stage_options.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/tool_name.h"
#include "lowtide/cli/runtime.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/pipeline/explain_peak.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/packing_csv.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/report/explanation.h"
#include "lowtide/report/page.h"
#include "lowtide/target/add_link.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::int64_t kBoundCheckEffort = 10'000'000'000;  // up to about 20 seconds

struct Request {
  ModelRequest model;
  Target target;
  PlanOptions options;
  std::vector<HintRequest> hints;
  std::size_t top = 8;
  bool wide = false;
  std::optional<std::string> plan_file;
  std::optional<std::string> page_file;
  std::optional<std::string> csv_file;
};

// The request, from which the budget of each plan follows.
BudgetRequest& budget_of(Request& request) { return request.model.formats.budget; }

struct Seconds {
  double import = 0;
  double plan = 0;
  double verify = 0;
};

// Reads how steps run at the same time. Options without effect are refused.
void read_run(const Arguments& arguments, PlanOptions& options) {
  options.streams = static_cast<std::uint32_t>(read_count(arguments, "--streams", 1, limits::kMaxStreams).value_or(1));
  options.arena_slack_percent =
      static_cast<int>(read_count(arguments, "--stream-memory", 0, 10'000).value_or(options.arena_slack_percent));
  options.pareto_front = arguments.has("--trade-offs");
  options.run = *from_string<ExecutionModel>(arguments.value("--run").value_or("streams"));
  for (const char* name : {"--streams", "--stream-memory", "--trade-offs"}) {
    if (options.run == ExecutionModel::dataflow && arguments.has(name)) {
      stop_usage(std::string(name) +
                 " has no effect with --run dataflow, which runs any number of steps at the same time; omit it");
    }
  }
  if (options.run == ExecutionModel::dataflow || options.streams > 1) return;
  for (const char* name : {"--trade-offs", "--stream-memory"}) {
    if (arguments.has(name)) {
      stop_usage(std::string(name) + " needs several streams; add --streams N");
    }
  }
  if (options.run == ExecutionModel::waves)
    stop_usage("--run waves needs the number of steps per wave; add --streams N");
}

Request read_request(const Arguments& arguments) {
  Request request;
  request.target = read_target_with_costs(arguments);
  request.model = {.path = arguments.positional("MODEL"),
                   .bindings = read_common_bindings(arguments),
                   .lowering = read_lowering(arguments, request.target)};
  request.model.bindings.to_run = is_to_run(arguments);
  request.model.formats = read_format_choice(arguments, request.target);
  if (const std::optional<TransferLink> link = read_link(arguments)) {
    request.target = take(add_link(std::move(request.target), *link));
  }
  request.model.formats.target = std::make_shared<const Target>(request.target);
  request.options.order = arguments.value("--order").value_or("auto");
  request.options.budget = budget_of(request).limit();
  request.options.views = !arguments.has("--no-views");
  request.options.parts = !arguments.has("--no-parts");
  request.options.in_place = !arguments.has("--no-in-place");
  request.options.allocate_effort = read_count(arguments, "--effort", 0).value_or(request.options.allocate_effort);
  request.options.order_effort = read_count(arguments, "--order-effort", 0).value_or(request.options.order_effort);
  read_run(arguments, request.options);
  check_curve_options(arguments, budget_of(request), request.options);
  request.hints = read_hints(arguments);
  if (arguments.has("--check-bound")) request.options.bound_check_effort = kBoundCheckEffort;
  request.options.tool = tool_name();
  request.options.dims = written_bindings(request.model.bindings);
  request.top = static_cast<std::size_t>(read_count(arguments, "--top", 0).value_or(8));
  request.wide = arguments.has("--wide");
  request.plan_file = arguments.value("--output");
  request.page_file = arguments.value("--html");
  request.csv_file = arguments.value("--csv");
  if (request.csv_file && request.options.run == ExecutionModel::dataflow)
    stop_usage(
        "--csv needs lifespans, and the buffers of a dataflow plan have none; omit one of --csv and --run dataflow");
  return request;
}

OutputFiles check_outputs(const Request& request, const Arguments& arguments) {
  std::vector<std::string> destinations;
  if (request.plan_file) destinations.push_back(*request.plan_file);
  if (request.page_file) destinations.push_back(*request.page_file);
  if (request.csv_file) destinations.push_back(*request.csv_file);
  std::vector<std::string> inputs = {arguments.positional("MODEL")};
  for (const char* option : {"--target", "--hints", "--costs", "--init-net", "--shapes"}) {
    if (const std::optional<std::string> file = arguments.value(option)) inputs.push_back(*file);
  }
  return {destinations, inputs, arguments.has("--json")};
}

Seconds seconds_of(const PlannedGraph& planned, double import, double all) {
  Seconds seconds{.import = import, .plan = all};
  for (const StageTime& time : planned.times) {
    if (time.stage != PlanStage::verify) continue;
    seconds.verify += time.seconds;
    seconds.plan -= time.seconds;
  }
  return seconds;
}

void remark_seconds(const Seconds& seconds, Console& console) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "import %.2f s, plan %.2f s, verify %.2f s", seconds.import, seconds.plan,
                seconds.verify);
  console.remark(StyledText(text.data(), Style::dim).end_line());
}

// The page with what a plan file does not have: why no order needs less, and the times of nodes.
std::string page_of(const Request& request, const LoadedModel& loaded, const PlannedGraph& planned,
                    const NamedPlan& named, const PlanVerdict& verdict) {
  PageOptions options{.is_verified = planned.is_verified, .costs = &planned.costs, .graph = &loaded.lowered.graph};
  const std::vector<CopyLeft> copies = copies_left(loaded.lowered.graph, planned.plan);
  options.copies = &copies;
  options.kept = verdict.recomputation ? &verdict.recomputation->kept : nullptr;
  options.lowering = verdict.lowering ? &*verdict.lowering : nullptr;
  options.verdict = &verdict;
  if (verdict.quantized) options.quantized = quantized_text(*verdict.quantized);
  if (planned.plan.execution == ExecutionModel::sequence) {
    const ExplanationFacts facts = explanation_facts(planned, request.options.order, forbidden_text(request.options));
    for (const PeakExplanation& level :
         explain_peak(loaded.lowered.graph, named.labels, request.target, request.options, planned.plan)) {
      options.proofs.push_back({level.peak.plan, proof_paragraphs(level, facts), in_place_paragraphs(level)});
    }
  }
  return page(named, options);
}

// The hints of --hints or of the model. Those of the model that are refused are remarks.
ModelHints hints_for(const Request& request, const LoadedModel& loaded, Console& console) {
  const BudgetRequest& budget = request.model.formats.budget;
  if (budget.kind == BudgetRequest::Kind::none || budget.kind == BudgetRequest::Kind::curve) return {};
  ModelHints hints =
      take(model_hints(loaded.model, loaded.lowered.graph, request.hints, !request.target.machine.links.empty()),
           loaded.facts.path);
  console.notes(hints.notes);
  return hints;
}

PlanVerdict verdict_of(const Request& request, const PlannedGraph& planned,
                       const std::optional<QuantizedFacts>& quantized, const std::optional<LoweringFacts>& lowering) {
  PlanVerdict verdict = verdict_of(planned);
  verdict.machine = request.target.machine;
  verdict.quantized = quantized;
  verdict.lowering = lowering;
  verdict.shows_trade_offs = request.options.pareto_front;
  return verdict;
}

// What a plan for the kernels of this machine counts, if it fits. They fuse nodes, so it may fit where the model as
// written does not. Only asked if the caller names no target, and the plan does not fit.
std::optional<Bytes> counted_on_cpu(const Arguments& arguments, const Request& request, const LoadedModel& loaded,
                                    const PlannedGraph& planned) {
  if (planned.fits() || !request.options.budget || arguments.has("--target")) return std::nullopt;
  const Result<Target> cpu = this_machine();
  if (!cpu) return std::nullopt;
  LowerOptions lowering = options_for_kernels();
  lowering.machine = cpu->formats;
  for (PassId pass : {PassId::inputs_in_arena, PassId::outputs_at_caller}) {
    if (request.model.lowering.passes.has(pass)) lowering.passes.insert(pass);
  }
  const Result<Lowered> lowered = lower_for_machine(
      loaded.model.graph, lowering,
      {.budget = request.model.formats.budget, .stop = request.options.stop, .target = std::make_shared<Target>(*cpu)});
  if (!lowered) return std::nullopt;
  PlanOptions options = request.options;
  options.lowering = lowered->passes;
  options.hints.clear();
  options.on_stage = {};
  const Result<PlannedGraph> other = plan_graph(lowered->graph, *cpu, options);
  return other && other->fits() ? std::optional(other->counted) : std::nullopt;
}

// Says whether the plan fits.
ExitCode judge(const PlannedGraph& planned, Console& console) {
  // With uncounted memory, it is not known whether the plan fits a limit.
  if (planned.fits() && planned.capacity && !counts_all(planned.plan.claims))
    console.remark(StyledText("whether the plan fits is not known, because some memory is not counted").end_line());
  if (planned.fits()) return planned.capacity && !counts_all(planned.plan.claims) ? ExitCode::no : ExitCode::done;
  console.remark(StyledText("the plan exceeds its memory limit by " + format_bytes(planned.shortfall)).end_line());
  return ExitCode::no;
}

// Names the graph in the options, and takes the hints that it has.
ModelHints adopt_graph(Request& request, const LoadedModel& loaded, Console& console) {
  request.options.lowering = loaded.lowered.passes;
  ModelHints hints = hints_for(request, loaded, console);
  request.options.hints = hints.accepted;
  return hints;
}

// Turns `auto` into the budget of the knee, and takes the plan and the graph that the curve chose for it.
std::shared_ptr<const PlannedGraph> settle_budget(const CurveRequest& curve, Request& request, LoadedModel& loaded,
                                                  ModelHints& hints, Console& console) {
  if (budget_of(request).kind != BudgetRequest::Kind::automatic) return nullptr;
  AutomaticBudget automatic = automatic_budget(curve, console);
  budget_of(request) = BudgetRequest::of(automatic.budget);
  request.options.budget = budget_of(request).limit();
  if (automatic.other) {
    use_graph(request.model, *std::move(automatic.other), loaded);
    hints = adopt_graph(request, loaded, console);
  }
  return automatic.plan;
}

// A plan, and what it was made from.
struct Made {
  const LoadedModel& loaded;
  const PlannedGraph& planned;
  const ModelHints& hints;
  const Seconds& seconds;
};

// Writes the files, and prints the result.
void show_plan(const Arguments& arguments, const Request& request, const Made& made, const OutputFiles& files,
               Console& console) {
  const auto& [loaded, planned, hints, seconds] = made;
  const std::optional<QuantizedFacts> quantized =
      quantized_facts(loaded, request.model.lowering, request.target, request.options);
  const std::optional<LoweringFacts> lowering = take(
      lowering_facts(loaded.model.graph, loaded.lowered, request.model.lowering, request.options), loaded.facts.path);
  const Labels labels = labels_of(loaded.lowered.graph);
  const NamedPlan named{planned.plan, labels};
  if (request.plan_file) files.write(*request.plan_file, write_plan_json(named.plan, named.labels), console);
  if (request.csv_file) files.write(*request.csv_file, write_packing_csv(packing_of(planned.plan, labels)), console);
  PlanVerdict verdict = verdict_of(request, planned, quantized, lowering);
  verdict.counted_on_cpu = counted_on_cpu(arguments, request, loaded, planned);
  if (request.page_file) files.write(*request.page_file, page_of(request, loaded, planned, named, verdict), console);
  if (arguments.has("--json")) {
    Json json = json_of_plan(loaded, planned, labels, {request.target, request.top});
    json["hints"] = json_of(results_of(hints, loaded.lowered.graph, planned));
    json["quantized"] = json_of(quantized);
    json["lowering"] = json_of(lowering);
    json["budget"]["counted_on_cpu"] = verdict.counted_on_cpu ? Json(verdict.counted_on_cpu->count()) : Json(nullptr);
    if (quantized) json["proven_optimal"] = json["budget"]["proven_infeasible"] = false;
    json["seconds"] = {{"import", seconds.import}, {"plan", seconds.plan}, {"verify", seconds.verify}};
    print_json(console, json);
  } else {
    console.result(plan_summary(loaded.facts, named, verdict, {.top = request.top, .wide = request.wide}));
    console.result(hints_text(results_of(hints, loaded.lowered.graph, planned)));
    remark_seconds(seconds, console);
  }
}

}  // namespace

ExitCode run_plan(const Arguments& arguments, Console& console) {
  if (arguments.has("--tflm")) return plan_micro(arguments, console);
  if (arguments.has("--kernels")) stop_usage("--kernels has an effect only with --tflm; add --tflm FILE");
  Request request = read_request(arguments);
  read_stage_options(arguments, console, request.options);
  const OutputFiles files = check_outputs(request, arguments);
  if (files.uses_stdout()) console.keep_stdout_free();

  if (const std::vector<SizeChoice> choices = read_size_choices(arguments); !choices.empty()) {
    refuse_curve_of_range(arguments, budget_of(request));
    const RangeRequest all{request.model, request.target, request.options, request.plan_file};
    return plan_range(arguments, all, choices, files, console);
  }
  LoadedModel loaded = load_model(request.model, console);
  files.protect(weight_files(request.model.path, loaded.model.constants));
  remark_unknown_operators(request.target, loaded.lowered.graph, console);
  request.options.model = std::filesystem::path(request.model.path).filename().string();
  request.options.model_sha256 = loaded.model.sha256;
  ModelHints hints = adopt_graph(request, loaded, console);
  const CurveRequest curve{arguments, request.model, loaded, request.target, request.options, request.hints};
  if (budget_of(request).kind == BudgetRequest::Kind::curve) return show_plan_curve(curve, files, console);
  const Stopwatch watch;
  const std::shared_ptr<const PlannedGraph> at_knee = settle_budget(curve, request, loaded, hints, console);
  const Interrupt interrupt;
  request.options.stop = interrupt.flag();
  const PlannedGraph planned = [&] {
    if (at_knee) return *at_knee;
    Progress progress(console, "planning");
    request.options.on_stage = [&](PlanStage stage) { progress.note(std::string(to_string(stage))); };
    return take(plan_graph(loaded.lowered.graph, request.target, request.options), arguments.positional("MODEL"));
  }();
  const Seconds seconds = seconds_of(planned, loaded.seconds, watch.seconds());
  note_missing_times(arguments, planned.estimate, console);
  check_verified(planned);

  show_plan(arguments, request, {loaded, planned, hints, seconds}, files, console);
  if (interrupt.was_asked()) {
    console.remark(StyledText("interrupted; optional stages were skipped and this is the best plan so far").end_line());
  }
  return judge(planned, console);
}

}  // namespace lowtide::cli_internal
