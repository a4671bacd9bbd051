// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "lowtide/adapt/lower_for_machine.h"
#include "lowtide/adapt/model_hints.h"
#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/adapt/size_choice.h"
#include "lowtide/base/change_of_size.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/engine/engine.h"
#include "lowtide/engine/load_time.h"
#include "lowtide/engine/one_kernel.h"
#include "lowtide/engine/open_prepared.h"
#include "lowtide/engine/open_sharing.h"
#include "lowtide/engine/prepared_file.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"
#include "lowtide/kernels/initialize.h"
#include "lowtide/pipeline/offered_kernels.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/target/add_link.h"
#include "lowtide/verify/check_constants.h"
#include "lowtide/verify/check_kernels.h"
#include "lowtide/verify/verify.h"

namespace lowtide {
namespace {

using engine_internal::SharedWeights;

// A plan, and by how much it exceeds its budget.
struct ChosenPlan {
  Plan plan;
  Bytes shortfall;
  std::optional<Recomputation> recomputation = std::nullopt;
  std::vector<std::string> notes = {};  // about hints
  std::optional<PlanEstimate> estimate = std::nullopt;
};

// The graph that a given plan is for is made again from the names of its passes.
Result<LowerOptions> lowering_of(const OpenOptions& options) {
  if (!options.given_plan) return options.lower;
  return lower_options(options.given_plan->provenance.lowering);
}

// The kernels of a given plan have tiles for the caches of its machine.
CpuOptions cpu_of(const OpenOptions& options) {
  CpuOptions cpu = options.cpu;
  if (options.given_plan) cpu.caches = options_of_key(options.given_plan->provenance.machine_key).caches;
  return cpu;
}

// Formats are those of one machine, so no other machine can make the graph of such a plan again. Other plans are
// compared with the machine where their kernels are prepared.
Result<void> check_machine(const Plan& plan, const Target& target) {
  const Provenance& of = plan.provenance;
  if (!depend_on_machine(of.lowering) || is_key_of_machine(of.machine_key)) return {};
  return Error{ErrorCode::mismatch,
               "the plan has the formats of a machine with " +
                   (of.machine_key.empty() ? "no key" : listed(of.machine_key, "and")) + ", but this one has " +
                   listed(target.machine_key, "and") + "; plan again with: lowtide plan " +
                   (of.model.empty() ? "MODEL" : lowtide::quoted(of.model)) + " --target cpu -o PLAN",
               "plan of " + lowtide::quoted(of.model)};
}

// Lowers a model, and may leave out its formats (lower_for_machine). The graph of a given plan is made again as it was.
Result<Lowered> lower_model(const Graph& model, const LowerOptions& lowering, const OpenOptions& options,
                            const Target& target) {
  if (options.given_plan) return lower(model, lowering);
  return lower_for_machine(model, lowering,
                           {.budget = BudgetRequest::of(options.plan.budget),
                            .stop = options.plan.stop,
                            .target = std::make_shared<const Target>(target),
                            .has_measured_costs = options.costs != nullptr});
}

// Every violation of the first check that finds one.
std::vector<Violation> violations_of(const OpenOptions& options, const Target& target, const ImportedModel& model,
                                     const Lowered& lowered) {
  const Plan& plan = *options.given_plan;
  std::vector<Violation> found;
  if (options.given_labels) found = verify_labels(lowered.graph, *options.given_labels);
  if (found.empty()) found = verify_lowering(model.graph, lowered.graph, lowered.load, {}, &model.constants);
  if (found.empty()) found = verify(lowered.graph, plan);
  // A plan for another machine is refused where its kernels are prepared. One for a described target has names of its
  // own for kernels.
  const Provenance& of = plan.provenance;
  const bool is_for_this = of.machine_key.empty() || of.machine_key == target.machine_key;
  if (of.target != target.name || !is_for_this) return found;
  if (found.empty()) found = verify_constants(lowered.graph, plan, target.machine);
  if (found.empty()) found = verify_kernels(lowered.graph, plan, offered_kernels(target));
  return found;
}

Error other_model(const Plan& plan, const std::string& digest) {
  return Error{ErrorCode::mismatch,
               "the plan is for the model with sha256 " + plan.provenance.model_sha256.substr(0, 16) +
                   "..., but this model has " + digest.substr(0, 16) + "...; plan this model again",
               "plan of " + lowtide::quoted(plan.provenance.model)};
}

// Why a model cannot be imported. If the given plan is for another model, that is the reason, because the bindings are
// those of the plan.
Error import_failure(const std::string& path, const Error& error, const OpenOptions& options) {
  if (!options.given_plan || error.code == ErrorCode::io || error.code == ErrorCode::malformed) return error;
  const std::string& planned_for = options.given_plan->provenance.model_sha256;
  const Result<std::string> digest = model_digest(path);
  return planned_for.empty() || !digest || *digest == planned_for ? error : other_model(*options.given_plan, *digest);
}

Result<ChosenPlan> check_given(const OpenOptions& options, const Target& target, const ImportedModel& model,
                               const Lowered& lowered) {
  const Plan& plan = *options.given_plan;
  const std::string& digest = plan.provenance.model_sha256;
  const std::string place = "plan of " + lowtide::quoted(plan.provenance.model);
  if (!digest.empty() && digest != model.sha256) return other_model(plan, model.sha256);
  const std::vector<Violation> violations = violations_of(options, target, model, lowered);
  if (violations.empty()) return ChosenPlan{plan, Bytes(0)};
  if (model.format != "onnx" && plan.provenance.target != target.name) {
    return Error{ErrorCode::mismatch,
                 "the plan is for the operators of the file, which become operators of ONNX when the model runs; plan "
                 "again with --target cpu",
                 place};
  }
  return Error{ErrorCode::mismatch, "the plan is wrong for this model: " + violations[0].message, place};
}

Result<ChosenPlan> make_plan(const std::string& path, const OpenOptions& options, const Target& target,
                             const ImportedModel& model, const Lowered& lowered) {
  PlanOptions planning = options.plan;
  planning.model = std::filesystem::path(path).filename().string();
  planning.model_sha256 = model.sha256;
  planning.lowering = lowered.passes;
  for (const auto& [name, extents] : model.given_shapes) planning.dims.push_back(written_shape(name, extents));
  std::sort(planning.dims.begin(), planning.dims.end());
  std::vector<std::string> notes;
  if (planning.budget) {
    Result<ModelHints> hints = model_hints(model, lowered.graph, options.hints, options.link.has_value());
    if (!hints) return hints.error();
    planning.hints = std::move(hints->accepted);
    notes = std::move(hints->notes);
  }
  LOWTIDE_TRY(PlannedGraph planned, plan_graph(lowered.graph, target, planning));
  LOWTIDE_CHECK(planned.violations.empty(), "a plan that was just made is correct");
  return ChosenPlan{std::move(planned.plan), planned.shortfall, std::move(planned.recomputation), std::move(notes),
                    planned.estimate};
}

// The load-time work runs before the rest is prepared. If it has nodes without kernel, those of the rest are named with
// them.
Error with_nodes_of_runs(const Error& error, const Lowered& lowered, const Plan& plan, const CpuOptions& cpu) {
  if (error.code != ErrorCode::unsupported) return error;
  const Result<Plan> load_plan = engine_internal::plan_load_time(lowered.load, cpu);
  if (!load_plan) return error;
  std::vector<UnsupportedNode> nodes = unsupported_steps(lowered.load, *load_plan);
  if (nodes.empty()) return error;
  for (UnsupportedNode& node : unsupported_steps(lowered.graph, plan)) nodes.push_back(std::move(node));
  return unsupported_error(nodes);
}

// What changes if a program writes the file or puts another one in its place.
struct FileState {
  std::filesystem::file_time_type written;
  std::uintmax_t size = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

FileState state_of(const std::string& path) {
  std::error_code absent;
  return {std::filesystem::last_write_time(path, absent), std::filesystem::file_size(path, absent)};
}

// Import reads the file, and ModelWeights maps it again, so it must not change in between.
Result<void> check_unchanged(const std::string& path, const FileState& before, const ModelWeights& weights) {
  LOWTIDE_RETURN_IF_ERROR(weights.check_files());
  const FileState now = state_of(path);
  if (now == before) return {};
  return Error{ErrorCode::mismatch,
               "changed while it was loaded" +
                   change_of_size(static_cast<std::int64_t>(before.size), static_cast<std::int64_t>(now.size)) +
                   "; load the model again",
               shown_path(path)};
}

// The weights, with the results of load-time work, and with memory for the other constants that need it (hold).
Result<void> load_weights(const std::string& path, const OpenOptions& options, const Lowered& lowered,
                          ConstantTable table, SharedWeights& shared) {
  std::string load = print_graph(lowered.load);
  const std::vector<ConstantId> kept = engine_internal::constants_of(lowered.graph);
  if (shared.weights == nullptr || shared.load != load || shared.weights->table() != table) {
    const auto first_computed = static_cast<std::uint32_t>(table.sources.size() - lowered.load.outputs().size());
    Result<ModelWeights> opened = ModelWeights::open(
        path, std::move(table), {.synthetic_seed = options.synthetic_seed, .makes_synthetic_later = true});
    if (!opened) return opened.error();
    const auto weights = std::make_shared<ModelWeights>(*std::move(opened));
    LOWTIDE_TRY(const Bytes arena,
                engine_internal::run_load_time(lowered.load, first_computed, weights, kept,
                                               {.cpu = cpu_of(options), .system_threads = options.system_threads}));
    shared = {weights, std::move(load), arena};
  }
  for (ConstantId id : kept) LOWTIDE_RETURN_IF_ERROR(shared.weights->hold(id));
  // The system has also mapped pages around the bytes that were read, and this gives them back.
  shared.weights->drop_files();
  return {};
}

// A model that has a plan. It has nothing of the model's own graph, whose memory the rest of the load can use.
struct PlannedModel {
  std::int64_t nodes = 0;                   // ImportedModel::nodes
  std::vector<std::string> notes;           // ImportedModel::notes
  std::vector<std::string> default_inputs;  // ImportedModel::default_inputs
  ConstantTable constants;                  // with the results of load-time work
  Lowered lowered;
  ChosenPlan chosen;
};

Result<PlannedModel> import_and_plan(const std::string& path, const OpenOptions& options,
                                     std::optional<std::size_t> rank) {
  ImportOptions import = options.import;
  import.to_run = true;
  import.makes_up_parameters = options.synthetic_seed.has_value();
  Result<ImportedModel> model = import_model(path, import);
  if (!model) return import_failure(path, model.error(), options);

  // Results of load-time work get entries behind those of the model, so the table must be complete before it is opened.
  Result<LowerOptions> lowering = lowering_of(options);
  if (!lowering) return lowering.error();
  lowering->constants = static_cast<std::uint32_t>(model->constants.sources.size());
  lowering->table = &model->constants;
  Result<Target> target = cpu_target(cpu_of(options));
  if (target && options.given_plan) target = with_link_of(options.given_plan->machine, *std::move(target));
  if (target && options.link && !options.given_plan) target = add_link(*std::move(target), *options.link);
  if (target && options.costs && !options.given_plan) target = with_times(*std::move(target), options.costs);
  if (target && rank) target->catalogue = std::make_shared<engine_internal::OneKernel>(target->catalogue, *rank);
  if (!target) return target.error();
  lowering->machine = target->formats;
  if (options.given_plan) LOWTIDE_RETURN_IF_ERROR(check_machine(*options.given_plan, *target));
  Result<Lowered> lowered = lower_model(model->graph, *lowering, options, *target);
  if (!lowered) return lowered.error();
  engine_internal::add_computed(lowered->load, model->constants);

  Result<ChosenPlan> chosen = options.given_plan ? check_given(options, *target, *model, *lowered)
                                                 : make_plan(path, options, *target, *model, *lowered);
  if (!chosen) return chosen.error();
  for (std::string& note : chosen->notes) model->notes.push_back(std::move(note));
  return PlannedModel{
      model->nodes,        std::move(model->notes), std::move(model->default_inputs), std::move(model->constants),
      *std::move(lowered), *std::move(chosen)};
}

Result<OpenedModel> open_checked(const std::string& path, const OpenOptions& options, SharedWeights& shared,
                                 std::optional<std::size_t> rank) {
  if (is_prepared_file(path)) return engine_internal::open_prepared(path, options);
  initialize();
  const FileState before = state_of(path);
  LOWTIDE_TRY(PlannedModel planned, import_and_plan(path, options, rank));
  Lowered& lowered = planned.lowered;
  ChosenPlan& chosen = planned.chosen;
  engine_internal::give_back_heap();

  const Result<void> loaded = load_weights(path, options, lowered, std::move(planned.constants), shared);
  if (!loaded) return with_nodes_of_runs(loaded.error(), lowered, chosen.plan, cpu_of(options));
  { const Graph done = std::move(lowered.load); }  // the kernels can use its memory

  Result<std::shared_ptr<const Executable>> executable =
      Executable::prepare(std::move(lowered.graph), std::move(chosen.plan), shared.weights,
                          {.threads = options.cpu.threads, .system_threads = options.system_threads});
  if (!executable) return executable.error();
  LOWTIDE_RETURN_IF_ERROR(check_unchanged(path, before, *shared.weights));
  return OpenedModel{*std::move(executable),          planned.nodes,
                     shared.load_time_arena,          chosen.shortfall,
                     std::move(planned.notes),        std::move(planned.default_inputs),
                     std::move(chosen.recomputation), chosen.estimate};
}

}  // namespace

void initialize() {
  initialize_import();
  initialize_kernels();
}

Result<OpenedModel> open_model(const std::string& path, const OpenOptions& options) {
  Result<OpenedModel> opened = [&] {
    SharedWeights none;
    return engine_internal::open_sharing(path, options, none);
  }();
  engine_internal::give_back_memory();
  return opened;
}

namespace engine_internal {

void give_back_memory() {
  release_kernel_caches();
  give_back_heap();
}

Result<OpenedModel> open_sharing(const std::string& path, const OpenOptions& options, SharedWeights& shared,
                                 std::optional<std::size_t> rank) {
  return or_no_memory(path, [&] {
    try {
      return open_checked(path, options, shared, rank);
    } catch (const std::bad_alloc&) {
      shared = {};
      throw;
    }
  });
}

}  // namespace engine_internal

}  // namespace lowtide
