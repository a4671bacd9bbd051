// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/json.h"
#include "lowtide/cli/model.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/progress.h"
#include "lowtide/cli/read_file.h"
#include "lowtide/cli/verbs.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/verify/verify.h"

namespace lowtide::detail {
namespace {

std::string shown_plan(const std::string& path) { return path == "-" ? "the plan" : shown_name(path, 60); }

std::string short_digest(const std::string& digest) { return lowtide::quoted(digest.substr(0, 12)); }

// The digest first: of a plan for another model, every further complaint would only hide that.
std::vector<Violation> check(const LoadedModel& loaded, const Plan& plan) {
  const std::string& planned_for = plan.provenance.model_sha256;
  if (!planned_for.empty() && planned_for != loaded.model.sha256) {
    return {{.kind = ViolationKind::wrong_model,
             .message = "the plan is for the model with sha256 " + short_digest(planned_for) + "..., this one has " +
                        short_digest(loaded.model.sha256) + "..."}};
  }
  return verify(loaded.model.graph, plan);
}

Json json_of_violation(const Violation& violation) {
  Json json{{"kind", to_string(violation.kind)}, {"message", json_text(violation.message)}};
  json["step"] = violation.step ? Json(violation.step->value()) : Json(nullptr);
  json["tensors"] = Json::array();
  for (TensorId tensor : violation.tensors) json["tensors"].push_back(tensor.value());
  json["region"] = violation.region ? Json(violation.region->value()) : Json(nullptr);
  json["bytes"] =
      violation.bytes ? Json{{"begin", violation.bytes->begin}, {"end", violation.bytes->end}} : Json(nullptr);
  json["body"] = violation.body.empty() ? Json(nullptr) : Json(json_text(violation.body));
  return json;
}

Json json_of_check(const LoadedModel& loaded, const std::string& path, const Plan& plan,
                   const std::vector<Violation>& violations) {
  Json json = json_head("verify");
  json["model"] = json_of(loaded.facts);
  json["plan"] = {{"path", json_text(path)},
                  {"tool", json_text(plan.provenance.tool)},
                  {"model_sha256", json_text(plan.provenance.model_sha256)},
                  {"steps", plan.program.size()},
                  {"buffers", plan.buffers.size()}};
  json["bytes"] = {
      {"arena", arena_bytes(plan).count()}, {"load", plan.claims.load.count()}, {"bound", plan.claims.bound.count()}};
  json["verified"] = violations.empty();
  json["violations"] = Json::array();
  for (const Violation& violation : violations) json["violations"].push_back(json_of_violation(violation));
  return json;
}

StyledText text_of_check(const LoadedModel& loaded, const std::string& path, const Plan& plan,
                         const std::vector<Violation>& violations) {
  StyledText out;
  if (violations.empty()) {
    out.add("ok", Style::good)
        .add("  " + shown_plan(path) + " is right for " + shown_name(loaded.facts.path, 60))
        .end_line();
    out.add("    " + with_thousands(static_cast<std::int64_t>(plan.program.size())) + " steps, ");
    out.add(with_thousands(static_cast<std::int64_t>(plan.buffers.size())) + " buffers, arena ");
    return out.add(format_bytes(arena_bytes(plan))).end_line();
  }
  out.add("wrong", Style::bad)
      .add("  " + shown_plan(path) + " is not right for " + shown_name(loaded.facts.path, 60))
      .end_line();
  TextTable table({TextTable::Align::left, TextTable::Align::left});
  for (const Violation& violation : violations) {
    const std::string inside = violation.body.empty() ? "" : " (inside " + violation.body + ")";
    table.add_row({StyledText(to_string(violation.kind), Style::strong), violation.message + inside});
  }
  out.append(table.text());
  if (violations.size() >= VerifyOptions{}.most_violations) out.add("  and perhaps more").end_line();
  return out;
}

}  // namespace

ExitCode run_verify(const Arguments& arguments, Console& console) {
  ImportOptions bindings = read_bindings(arguments);
  const std::string& path = arguments.place("PLAN");
  const Stopwatch reading;
  const PlanFile file = take(read_plan_json(take(read_text_file(path, limits::kMaxPlanFileBytes)), path));
  const double read_seconds = reading.seconds();
  add_written_bindings(file.plan.provenance.dims, bindings);
  const LoadedModel loaded = load_model(arguments.place("MODEL"), bindings, console);

  const Stopwatch watch;
  const std::vector<Violation> violations = [&] {
    const Progress progress(console, "verifying");
    return check(loaded, file.plan);
  }();
  if (arguments.has("--json")) {
    Json json = json_of_check(loaded, path, file.plan, violations);
    json["seconds"] = {{"import", loaded.seconds}, {"read", read_seconds}, {"verify", watch.seconds()}};
    print_json(console, json);
  } else {
    console.result(text_of_check(loaded, path, file.plan, violations));
  }
  return violations.empty() ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::detail
