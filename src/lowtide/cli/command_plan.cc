// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "lowtide/analysis/packing_of.h"
#include "lowtide/base/limits.h"
#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/costs.h"
#include "lowtide/cli/help.h"
#include "lowtide/cli/hints.h"
#include "lowtide/cli/interrupt.h"
#include "lowtide/cli/json.h"
#include "lowtide/cli/link_options.h"
#include "lowtide/cli/lowering.h"
#include "lowtide/cli/model.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/cli/plan_curve.h"
#include "lowtide/cli/plan_range.h"
#include "lowtide/cli/progress.h"
#include "lowtide/cli/quantized.h"
#include "lowtide/cli/recomputation.h"
#include "lowtide/cli/stage_options.h"
#include "lowtide/engine/lowering_facts.h"
#include "lowtide/engine/model_hints.h"
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
  bool is_automatic = false;  // the budget is that of the knee
  std::size_t top = 8;
  bool wide = false;
  std::optional<std::string> plan_file;
  std::optional<std::string> page_file;
  std::optional<std::string> csv_file;
};

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
  request.model = {.path = arguments.positional("MODEL"),
                   .bindings = read_bindings_beside_range(arguments),
                   .lowering = read_lowering(arguments)};
  request.target = read_target_with_costs(arguments);
  request.model.formats = read_format_choice(arguments);
  if (const std::optional<TransferLink> link = read_link(arguments)) {
    request.target = take(add_link(std::move(request.target), *link));
  }
  request.model.formats.target = std::make_shared<const Target>(request.target);
  request.options.order = arguments.value("--order").value_or("auto");
  request.is_automatic = is_automatic_budget(arguments);
  if (!request.is_automatic) request.options.budget = read_positive_size(arguments, "--budget");
  if (request.options.budget && request.options.budget->count() > limits::kMaxArenaBytes) {
    stop_usage("'--budget' must be at most " + std::to_string(limits::kMaxArenaBytes) +
               " bytes (kMaxArenaBytes), the largest arena that a plan can have; omit the option for no limit");
  }
  request.options.views = !arguments.has("--no-views");
  request.options.parts = !arguments.has("--no-parts");
  request.options.in_place = !arguments.has("--no-in-place");
  request.options.allocate_effort = read_count(arguments, "--effort", 0).value_or(request.options.allocate_effort);
  request.options.order_effort = read_count(arguments, "--order-effort", 0).value_or(request.options.order_effort);
  read_run(arguments, request.options);
  check_curve_options(arguments, request.options);
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

// null if the bound was not checked, or if the check did not end.
Json json_of_check(const OrderBoundCheck& check) {
  if (check.verdict == OrderBoundVerdict::undecided) return nullptr;
  return check.verdict == OrderBoundVerdict::confirmed;
}

// What cannot be distributed over the regions; null if nothing is known.
Json json_of_region_proof(const std::optional<RegionProof>& proof, const Labels& labels) {
  if (!proof) return nullptr;
  Json json;
  json["node"] = proof->node ? json_of(shown_node(labels, *proof->node)) : Json(nullptr);
  json["scratch_bytes"] = proof->scratch.count();
  json["tensors"] = Json::array();
  for (TensorId id : proof->tensors) {
    json["tensors"].push_back(
        {{"name", json_text(labels.tensors[id].name)}, {"bytes", labels.tensors[id].size.count()}});
  }
  return json;
}

// What the target describes, but no plan uses.
Json json_of_unused(const Machine& machine, const Program& program) {
  Json unused = Json::array();
  const bool has_copies = std::any_of(program.streams.begin(), program.streams.end(),
                                      [](const Stream& stream) { return stream.link.has_value(); });
  if (!machine.links.empty() && !has_copies) unused.push_back("links");
  if (machine.workers.size() > 1) unused.push_back("workers");
  return unused;
}

Json json_of_regions(const Plan& plan, const Machine& machine) {
  Json regions = Json::array();
  for (std::size_t at = 0; at < plan.machine.regions.size(); ++at) {
    const std::vector<Bytes> loads = load_by_step(plan.layout, RegionId(static_cast<std::uint32_t>(at)));
    const Bytes load = loads.empty() ? Bytes(0) : *std::max_element(loads.begin(), loads.end());
    const std::optional<Bytes>& capacity = machine.regions[at].capacity;
    regions.push_back({{"name", json_text(plan.machine.regions[at].name)},
                       {"capacity", capacity ? Json(capacity->count()) : Json(nullptr)},
                       {"arena", plan.layout.arena[at].count()},
                       {"load", load.count()}});
  }
  return regions;
}

Json json_of_budget(const PlannedGraph& planned, const Labels& labels) {
  Json json;
  json["capacity"] = planned.capacity ? Json(planned.capacity->count()) : Json(nullptr);
  json["counted"] = planned.counted.count();
  const bool is_known = !planned.fits() || counts_all(planned.plan.claims);
  json["fits"] = is_known ? Json(planned.fits()) : Json(nullptr);
  json["shortfall"] = planned.shortfall.count();
  json["proven_infeasible"] = planned.proven_infeasible;
  json["region_proof"] = json_of_region_proof(planned.region_proof, labels);
  json["recomputation"] = json_of(planned.recomputation, labels);
  return json;
}

Json json_of_exchange(const std::optional<KernelExchange>& exchange) {
  if (!exchange) return nullptr;
  return {{"nodes", exchange->nodes},
          {"added_picoseconds", exchange->added_picoseconds ? Json(*exchange->added_picoseconds) : Json(nullptr)},
          {"arena_bytes", exchange->arena.count()}};
}

// Empty for a plan on one stream.
Json json_of_points(const PlannedGraph& planned) {
  Json points = Json::array();
  for (const TradeOff& point : planned.trade_offs) {
    points.push_back({{"run", std::string(to_string(point.run))},
                      {"streams", point.streams},
                      {"cap_bytes", point.cap ? Json(point.cap->count()) : Json(nullptr)},
                      {"priority", point.priority.empty() ? Json(nullptr) : Json(point.priority)},
                      {"fill", point.fill.empty() ? Json(nullptr) : Json(point.fill)},
                      {"load_bytes", point.load.count()},
                      {"arena_bytes", point.arena.count()},
                      {"estimated_picoseconds", point.picoseconds},
                      {"waits", point.waits},
                      {"waves", point.run == ExecutionModel::waves ? Json(point.waves) : Json(nullptr)},
                      {"on_frontier", point.is_pareto_optimal},
                      {"chosen", point.is_chosen}});
  }
  return points;
}

Json json_of_plan(const LoadedModel& loaded, const PlannedGraph& planned, const Labels& labels,
                  const Request& request) {
  const Plan& plan = planned.plan;
  const Bytes arena = arena_bytes(plan);
  const Bound bound = bound_of(plan);
  Json json = json_head("plan");
  json["model"] = json_of(loaded.facts);
  json["dims"] = json_of(plan.provenance.dims);
  json["target"] = json_text(plan.provenance.target);
  json["bytes"] = {{"constants", planned.plain.constants.count()},
                   {"inputs", planned.plain.inputs.count()},
                   {"outputs", (planned.plain.outputs + loaded.facts.outputs_at_caller).count()},
                   {"temporaries_sum", planned.plain.temporaries_sum.count()},
                   {"load_as_given", plan.claims.load_as_given.count()},
                   {"load", plan.claims.load.count()},
                   {"bound", bound.bytes.count()},
                   {"arena", arena.count()},
                   {"working_set", planned.working_set.count()},
                   {"ram", (arena + planned.caller).count()}};
  add_weights(json, planned.weights);
  json["gap"] = json_of_gap(arena, bound.bytes);
  json["bound_name"] = bound.name;
  json["bound_scope"] = std::string(to_string(bound.scope));
  json["bound_verified"] = json_of_check(planned.bound_check);
  json["schedule"] = {{"strategy", plan.claims.schedule}, {"proven_optimal", is_schedule_proven(plan.claims)}};
  json["schedule"]["tried"] = Json::array();
  for (const auto& [strategy, load] : planned.orders_tried) {
    json["schedule"]["tried"].push_back({{"strategy", strategy}, {"load", load.count()}});
  }
  json["allocate"] = {{"strategy", plan.claims.allocate}, {"proven_optimal", is_allocation_proven(plan.claims)}};
  json["proven_optimal"] = counts_all(plan.claims) && arena == bound.bytes;
  json["uncounted"] = json_of(plan.claims.uncounted);
  json["steps"] = plan.program.steps.size();
  json["buffers"] = plan.layout.buffers.size();
  json["streams"] = plan.program.streams.size();
  json["run"] = std::string(to_string(plan.execution));
  json["points"] = json_of_points(planned);
  json["budget"] = json_of_budget(planned, labels);
  json["unused"] = json_of_unused(request.target.machine, plan.program);
  json["regions"] = json_of_regions(plan, request.target.machine);
  json["exchanged_kernels"] = json_of_exchange(planned.exchange);
  json["lightest_kernels"] = json_of_exchange(planned.lightest);
  json["estimate"] = json_of(planned.estimate);
  json["verified"] = planned.is_verified;
  json["peak"] = json_of(peaks_of(plan, labels), request.top);
  json["notes"] = json_of(loaded.model.notes);
  return json;
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
  if (!request.options.budget && !request.is_automatic) return {};
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

// Says whether the plan fits.
ExitCode judge(const PlannedGraph& planned, Console& console) {
  // With uncounted memory, it is not known whether the plan fits a limit.
  if (planned.fits() && planned.capacity && !counts_all(planned.plan.claims))
    console.remark(StyledText("whether the plan fits is not known, because some memory is not counted").end_line());
  if (planned.fits()) return planned.capacity && !counts_all(planned.plan.claims) ? ExitCode::no : ExitCode::done;
  console.remark(StyledText("the plan exceeds its memory limit by " + format_bytes(planned.shortfall)).end_line());
  return ExitCode::no;
}

}  // namespace

ExitCode run_plan(const Arguments& arguments, Console& console) {
  Request request = read_request(arguments);
  read_stage_options(arguments, console, request.options);
  const OutputFiles files = check_outputs(request, arguments);
  if (files.uses_stdout()) console.keep_stdout_free();

  if (const std::optional<DimRange> range = read_range(arguments)) {
    refuse_curve_of_range(arguments);
    const RangeRequest all{request.model, request.target, request.options, request.plan_file};
    return plan_range(arguments, all, *range, files, console);
  }
  const LoadedModel loaded = load_model(request.model, console);
  files.protect(weight_files(request.model.path, loaded.model.constants));
  remark_unknown_operators(request.target, loaded.lowered.graph, console);
  request.options.model = std::filesystem::path(request.model.path).filename().string();
  request.options.model_sha256 = loaded.model.sha256;
  request.options.lowering = loaded.lowered.passes;
  const ModelHints hints = hints_for(request, loaded, console);
  request.options.hints = hints.accepted;
  const CurveRequest curve{arguments, loaded, request.target, request.options};
  if (arguments.has("--curve")) return show_plan_curve(curve, files, console);
  if (request.is_automatic) request.options.budget = automatic_budget(curve, console);
  const Stopwatch watch;
  const Interrupt interrupt;
  request.options.stop = interrupt.flag();
  const PlannedGraph planned = [&] {
    Progress progress(console, "planning");
    request.options.on_stage = [&](PlanStage stage) { progress.note(std::string(to_string(stage))); };
    return take(plan_graph(loaded.lowered.graph, request.target, request.options), arguments.positional("MODEL"));
  }();
  const Seconds seconds = seconds_of(planned, loaded.seconds, watch.seconds());
  check_verified(planned);

  const std::optional<QuantizedFacts> quantized =
      quantized_facts(loaded, request.model.lowering, request.target, request.options);
  const std::optional<LoweringFacts> lowering = take(
      lowering_facts(loaded.model.graph, loaded.lowered, request.model.lowering, request.options), loaded.facts.path);
  const Labels labels = labels_of(loaded.lowered.graph);
  const NamedPlan named{planned.plan, labels};
  if (request.plan_file) files.write(*request.plan_file, write_plan_json(named.plan, named.labels), console);
  if (request.csv_file) files.write(*request.csv_file, write_packing_csv(packing_of(planned.plan, labels)), console);
  const PlanVerdict verdict = verdict_of(request, planned, quantized, lowering);
  if (request.page_file) files.write(*request.page_file, page_of(request, loaded, planned, named, verdict), console);
  if (arguments.has("--json")) {
    Json json = json_of_plan(loaded, planned, labels, request);
    json["hints"] = json_of(results_of(hints, loaded.lowered.graph, planned));
    json["quantized"] = json_of(quantized);
    json["lowering"] = json_of(lowering);
    json["seconds"] = {{"import", seconds.import}, {"plan", seconds.plan}, {"verify", seconds.verify}};
    print_json(console, json);
  } else {
    console.result(plan_summary(loaded.facts, named, verdict, {.top = request.top, .wide = request.wide}));
    console.result(hints_text(results_of(hints, loaded.lowered.graph, planned)));
    remark_seconds(seconds, console);
  }
  if (interrupt.was_asked()) {
    console.remark(StyledText("interrupted; optional stages were skipped and this is the best plan so far").end_line());
  }
  return judge(planned, console);
}

}  // namespace lowtide::cli_internal
