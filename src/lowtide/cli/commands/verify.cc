// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/cli/runtime.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/pipeline/offered_kernels.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/target/add_link.h"
#include "lowtide/verify/check_constants.h"
#include "lowtide/verify/check_kernels.h"
#include "lowtide/verify/verify.h"

namespace lowtide::cli_internal {
namespace {

// A plan to verify, and how messages name it: its file, and its bindings if the file has several plans.
struct GivenPlan {
  PlanFile file;
  std::string name;
};

std::vector<GivenPlan> read_given_plans(const Arguments& arguments) {
  const std::string& path = arguments.positional("PLAN");
  std::vector<PlanFile> files = read_plans_file(path);
  const bool is_one = files.size() == 1;
  if (!is_one) files = choose_plans(std::move(files), read_bindings(arguments), path);
  const std::string name = path == "-" ? "the plan" : shown_name(path);
  std::vector<GivenPlan> plans;
  for (PlanFile& file : files) {
    const std::string bindings = is_one ? "" : " for " + shown_bindings(file.plan.provenance.dims);
    plans.push_back({std::move(file), name + bindings});
  }
  return plans;
}

std::string short_digest(const std::string& digest) { return lowtide::quoted(digest.substr(0, 12)); }

constexpr std::size_t kCountedDifferences = 100'000;
constexpr std::size_t kShownDifferences = 3;

struct Checked {
  ModelFacts model;
  bool is_imported = true;      // otherwise only its path and digest are known
  bool is_other_graph = false;  // the violations are differences between the graph and the names in the plan
  std::vector<Violation> violations;
  std::string unchecked;  // what the checks leave out; empty: nothing
  double import_seconds = 0;
  double verify_seconds = 0;
};

// The digest is compared first, because other violations of a plan for another model would only hide the cause.
std::optional<Violation> other_model(const std::string& planned_for, const std::string& digest) {
  if (planned_for.empty() || planned_for == digest) return std::nullopt;
  return Violation{.kind = ViolationKind::wrong_model,
                   .message = "the plan is for the model with sha256 " + short_digest(planned_for) +
                              "..., but this model has " + short_digest(digest) + "..."};
}

// "the plan was made for 'batch=8', but the command line sets 'batch=4'"; empty if the two agree. Such a difference may
// be the cause of all violations.
std::string other_bindings(const std::vector<std::string>& planned_for, const ImportOptions& given) {
  std::string own;
  for (const std::string& binding : written_bindings(given)) {
    const bool is_the_same = std::find(planned_for.begin(), planned_for.end(), binding) != planned_for.end();
    if (!is_the_same) own += (own.empty() ? "" : ", ") + lowtide::quoted(binding);
  }
  if (own.empty()) return "";
  return "the plan was made for " + shown_bindings(planned_for) + ", but the command line sets " + own;
}

// For a model that cannot be imported. If the plan is for another model, that is the answer.
Checked check_digest(const std::string& path, const Error& failure, const Provenance& provenance,
                     const std::string& cause) {
  const bool is_a_model =
      failure.code != ErrorCode::io && failure.code != ErrorCode::malformed && !is_prepared_file(path);
  if (is_a_model && !provenance.model_sha256.empty()) {
    Checked checked{.model = {.path = path}, .is_imported = false};
    checked.model.sha256 = take(model_digest(path));
    if (const auto other = other_model(provenance.model_sha256, checked.model.sha256)) {
      checked.violations = {*other};
      return checked;
    }
  }
  throw Stop(ExitCode::bad_input, (cause.empty() ? "" : cause + ": ") + failure.describe());
}

std::string shown_key(const std::vector<std::string>& key) { return key.empty() ? "no key" : listed(key, "and"); }

// The passes of a plan. Some of them ask the kernels of this machine.
LowerOptions lowering_of(const Provenance& provenance, const std::string& plan_file) {
  std::shared_ptr<const KernelFormats> machine;
  if (depend_on_machine(provenance.lowering)) machine = take(this_machine()).formats;
  return take(lower_options(provenance.lowering, std::move(machine)), plan_file);
}

// Only the machine that has the formats of a plan can make its graph again.
std::optional<Violation> other_formats(const Provenance& provenance) {
  const std::vector<std::string> own = key_of_this_machine(provenance.machine_key);
  if (!depend_on_machine(provenance.lowering) || (!own.empty() && provenance.machine_key == own)) return std::nullopt;
  return Violation{.kind = ViolationKind::wrong_kernel,
                   .message = "the plan has the formats of a machine with " + shown_key(provenance.machine_key) +
                              ", but this one has " + shown_key(own) +
                              "; verify it on that machine, or plan again with --target cpu on this one"};
}

// A plan for another target is wrong for this one, whatever its kernels are called.
std::vector<Violation> check_target(const Graph& graph, const Plan& plan, const Target& target) {
  if (plan.provenance.target != target.name) {
    return {{.kind = ViolationKind::wrong_kernel,
             .message = "the plan is for the target " + lowtide::quoted(plan.provenance.target) +
                        ", but --target describes " + lowtide::quoted(target.name)}};
  }
  if (plan.provenance.machine_key != target.machine_key) {
    return {{.kind = ViolationKind::wrong_kernel,
             .message = "the plan is for a machine with " + shown_key(plan.provenance.machine_key) +
                        ", but this one has " + shown_key(target.machine_key) +
                        "; plan again with --target cpu on this machine"}};
  }
  std::vector<Violation> violations = verify_constants(graph, plan, target.machine);
  for (Violation& violation : verify_kernels(graph, plan, offered_kernels(target)))
    violations.push_back(std::move(violation));
  return violations;
}

// The target whose kernels the plan has, if this machine knows it. Without --target, that is the one that the plan
// names if it is built in. Kernels are those for the threads and the caches of the plan. --threads asks for another
// number.
std::optional<Target> read_target_of(const Arguments& arguments, const Plan& plan) {
  const Provenance& of = plan.provenance;
  const auto with_link = [&](Target target) { return with_link_of(plan.machine, std::move(target)); };
  const bool is_given = arguments.has("--target") || arguments.has("--threads");
  const bool is_cpu_here = !is_given && of.target == "cpu" && !of.machine_key.empty() &&
                           of.machine_key == key_of_this_machine(of.machine_key);
  if (arguments.value("--target") == "cpu" || is_cpu_here) {
    return with_link(take(this_machine(read_threads(arguments), of.machine_key)));
  }
  if (is_given) return with_link(read_target(arguments));
  if (of.target == "dense" && of.machine_key.empty()) return with_link(dense_target());
  return std::nullopt;
}

// What is not known of a plan that is correct otherwise.
std::string unchecked_part(const Plan& plan) {
  const bool is_cpu = plan.provenance.target == "cpu";
  return "scratch, in-place rules and constants of the kernels, because " +
         (is_cpu ? "they are those of another machine; verify it there"
                 : "target " + lowtide::quoted(plan.provenance.target) + " describes them; add --target FILE");
}

Checked check(const std::string& path, const PlanFile& file, const Arguments& arguments, Console& console) {
  const ImportOptions given = read_bindings(arguments);
  const Provenance& provenance = file.plan.provenance;
  const std::optional<Target> target = read_target_of(arguments, file.plan);
  const std::string cause = other_bindings(provenance.dims, given);
  const std::string plan_file = name_of_file(arguments.positional("PLAN"));
  ModelRequest request{.path = path, .bindings = given, .lowering = lowering_of(provenance, plan_file)};
  add_written_bindings(provenance.dims, request.bindings);
  request.bindings.to_run = provenance.target == "cpu" && !request.bindings.unit_sizes;
  const Result<LoadedModel> loaded = try_load_model(request, console);
  if (!loaded.ok()) return check_digest(path, loaded.error(), provenance, cause);

  const Stopwatch watch;
  const Progress progress(console, "verifying");
  Checked checked{.model = loaded->facts, .import_seconds = loaded->seconds};
  if (const auto other = other_model(provenance.model_sha256, loaded->model.sha256)) {
    checked.violations = {*other};
  } else if (const auto formats = other_formats(provenance)) {
    checked.violations = {*formats};
  } else {
    const Graph& graph = loaded->lowered.graph;
    checked.violations = verify_labels(graph, file.labels, {.most_violations = kCountedDifferences});
    checked.is_other_graph = !checked.violations.empty();
    // Replaying a plan of another graph would only report the same cause in other words.
    if (!checked.is_other_graph) {
      checked.violations =
          verify_lowering(loaded->model.graph, graph, loaded->lowered.load, {}, &loaded->model.constants);
      for (Violation& violation : verify(graph, file.plan)) checked.violations.push_back(std::move(violation));
      if (target && checked.violations.empty()) checked.violations = check_target(graph, file.plan, *target);
      if (!target) checked.unchecked = unchecked_part(file.plan);
    }
    if (!checked.violations.empty() && !cause.empty()) {
      checked.violations.insert(checked.violations.begin(), {.kind = ViolationKind::wrong_model, .message = cause});
    }
  }
  checked.verify_seconds = watch.seconds();
  return checked;
}

Json json_of_violation(const Violation& violation) {
  Json json{{"kind", std::string(to_string(violation.kind))}, {"message", json_text(violation.message)}};
  json["step"] = violation.step ? Json(violation.step->value()) : Json(nullptr);
  json["tensors"] = Json::array();
  for (TensorId tensor : violation.tensors) json["tensors"].push_back(tensor.value());
  json["region"] = violation.region ? Json(violation.region->value()) : Json(nullptr);
  json["bytes"] =
      violation.bytes ? Json{{"begin", violation.bytes->begin}, {"end", violation.bytes->end}} : Json(nullptr);
  json["body"] = violation.body.empty() ? Json(nullptr) : Json(json_text(violation.body));
  return json;
}

Json json_of_model(const Checked& checked) {
  Json json = json_of(checked.model);
  if (checked.is_imported) return json;
  for (const char* key : {"format", "nodes", "planned_nodes", "body_nodes", "tensors"}) json[key] = nullptr;
  return json;
}

void add_check(const Checked& checked, const std::string& path, const Plan& plan, Json& json) {
  json["plan"] = {{"path", json_text(path)},
                  {"tool", json_text(plan.provenance.tool)},
                  {"model_sha256", json_text(plan.provenance.model_sha256)},
                  {"dims", Json::array()},
                  {"streams", plan.program.streams.size()},
                  {"steps", plan.program.steps.size()},
                  {"buffers", plan.layout.buffers.size()}};
  for (const std::string& binding : plan.provenance.dims) json["plan"]["dims"].push_back(json_text(binding));
  const Bound bound = bound_of(plan);
  json["bytes"] = {{"arena", arena_bytes(plan).count()},
                   {"load", plan.claims.load.count()},
                   {"bound", bound.bytes.count()},
                   {"shortfall", plan.claims.shortfall.count()}};
  json["bound_scope"] = std::string(to_string(bound.scope));
  json["verified"] = checked.violations.empty();
  json["unchecked"] = checked.unchecked.empty() ? Json(nullptr) : Json(json_text(checked.unchecked));
  json["violations"] = Json::array();
  for (const Violation& violation : checked.violations) {
    if (json["violations"].size() == VerifyOptions{}.most_violations) break;
    json["violations"].push_back(json_of_violation(violation));
  }
}

// The keys of a plan are those of the object if there is one plan, and otherwise those of an entry of `plans`.
Json json_of_checks(const std::vector<Checked>& checks, const std::vector<GivenPlan>& plans, const std::string& path,
                    double read_seconds) {
  Json json = json_head("verify");
  json["model"] = json_of_model(checks.front());
  if (plans.size() > 1) {
    json["verified"] = std::ranges::all_of(checks, [](const Checked& one) { return one.violations.empty(); });
    json["plans"] = Json::array();
  }
  double import_seconds = 0;
  double verify_seconds = 0;
  for (std::size_t at = 0; at < plans.size(); ++at) {
    add_check(checks[at], path, plans[at].file.plan, plans.size() > 1 ? json["plans"].push_back(nullptr) : json);
    import_seconds += checks[at].import_seconds;
    verify_seconds += checks[at].verify_seconds;
  }
  json["seconds"] = {{"import", import_seconds}, {"read", read_seconds}, {"verify", verify_seconds}};
  return json;
}

StyledText text_of_check(const Checked& checked, const std::string& name, const Plan& plan) {
  const std::vector<Violation>& violations = checked.violations;
  const std::string model = shown_name(checked.model.path);
  StyledText out;
  if (violations.empty()) {
    out.add("ok", Style::good).add("  " + name + " is correct for " + model).end_line();
    out.add("    " + counted(static_cast<std::int64_t>(plan.program.steps.size()), "step") + ", ");
    out.add(counted(static_cast<std::int64_t>(plan.layout.buffers.size()), "buffer") + ", arena ");
    out.add(format_bytes(arena_bytes(plan))).end_line();
    if (!checked.unchecked.empty()) out.add("    not checked: " + checked.unchecked, Style::strong).end_line();
    if (plan.claims.shortfall == Bytes(0)) return out;
    out.add("    the plan says that it exceeds its memory limit by ");
    return out.add(format_bytes(plan.claims.shortfall), Style::bad).end_line();
  }
  out.add("wrong", Style::bad).add("  " + name + " is not correct for " + model).end_line();
  TextTable table({TextTable::Align::left, TextTable::Align::left});
  const std::size_t shown = checked.is_other_graph ? std::min(violations.size(), kShownDifferences) : violations.size();
  for (const Violation& violation : std::span(violations).first(shown)) {
    const std::string inside = violation.body.empty() ? "" : " (inside " + violation.body + ")";
    table.add_row({StyledText(to_string(violation.kind), Style::strong), violation.message + inside});
  }
  out.append(table.text());
  if (shown < violations.size()) {
    const auto left = static_cast<std::int64_t>(violations.size() - shown);
    out.add("  and " + counted(left, "more difference") + " between the plan and the model").end_line();
  } else if (shown >= VerifyOptions{}.most_violations) {
    out.add("  and possibly more").end_line();
  }
  return out;
}

}  // namespace

ExitCode run_verify(const Arguments& arguments, Console& console) {
  if (!arguments.optional_positional("PLAN")) return verify_offline_plan(arguments, console);
  const std::string& path = arguments.positional("PLAN");
  if (path == "-" && arguments.value("--target") == "-")
    stop_usage("only one of the plan and the target can come from stdin");
  const Stopwatch reading;
  const std::vector<GivenPlan> plans = read_given_plans(arguments);
  const double read_seconds = reading.seconds();

  std::vector<Checked> checks;
  for (const GivenPlan& plan : plans)
    checks.push_back(check(arguments.positional("MODEL"), plan.file, arguments, console));
  if (arguments.has("--json")) {
    print_json(console, json_of_checks(checks, plans, path, read_seconds));
  } else {
    StyledText text;
    for (std::size_t at = 0; at < plans.size(); ++at)
      text.append(text_of_check(checks[at], plans[at].name, plans[at].file.plan));
    console.result(text);
  }
  const bool is_right = std::ranges::all_of(checks, [](const Checked& one) { return one.violations.empty(); });
  return is_right ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
