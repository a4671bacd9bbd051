// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/quote.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/report/page.h"

namespace lowtide::cli_internal {
namespace {

// "'net.onnx' with sha256 '0123456789ab'..."
std::string model_text(const Plan& plan) {
  return lowtide::quoted(plan.provenance.model, 200) + " with sha256 " +
         lowtide::quoted(plan.provenance.model_sha256.substr(0, 12)) + "...";
}

// "'batch=8'", "the sizes of the file"
std::string dims_text(const Plan& plan) {
  std::string text;
  for (const std::string& binding : plan.provenance.dims) text += (text.empty() ? "" : ", ") + lowtide::quoted(binding);
  return text.empty() ? "the sizes of the file" : text;
}

// Plans of different models have nothing to compare. A plan of a graph without a file has no digest.
void check_same_model(const std::string& path, const Plan& shown, const std::string& other_path, const Plan& other) {
  const std::string& digest = shown.provenance.model_sha256;
  const std::string& other_digest = other.provenance.model_sha256;
  if (digest.empty() || other_digest.empty() || digest == other_digest) return;
  throw Stop(ExitCode::bad_input, "the plans are for different models: " + lowtide::quoted(path, 200) + " is for " +
                                      model_text(shown) + ", " + lowtide::quoted(other_path, 200) + " is for " +
                                      model_text(other) + "; compare plans of one model");
}

// Plans of one model for different sizes are compared, and the reader is told.
void note_other_sizes(const Plan& shown, const Plan& other, Console& console) {
  const std::string dims = dims_text(shown);
  const std::string other_dims = dims_text(other);
  if (dims == other_dims) return;
  console.note("the plans are for different sizes: " + dims + " now, " + other_dims + " before");
}

}  // namespace

ExitCode run_view(const Arguments& arguments, Console& console) {
  const std::optional<std::string> destination = arguments.value("--output");
  if (!destination) stop_usage("'lowtide view' needs '-o FILE' for the page; use '-o -' for stdout");
  const std::string& path = arguments.positional("PLAN");
  const std::optional<std::string> other_path = arguments.value("--against");
  if (other_path && path == "-" && *other_path == "-") stop_usage("only one of the two plans can come from stdin");
  std::vector<std::string> inputs = {path};
  if (other_path) inputs.push_back(*other_path);
  const OutputFiles files({*destination}, inputs, false);

  const PlanFile shown = read_plan_file(path);
  const NamedPlan named{shown.plan, shown.labels};
  if (!other_path) {
    files.write(*destination, page(named), console);
    return ExitCode::done;
  }
  const PlanFile other = read_plan_file(*other_path);
  check_same_model(path, shown.plan, *other_path, other.plan);
  note_other_sizes(shown.plan, other.plan, console);
  const NamedPlan against{other.plan, other.labels};
  files.write(*destination, page(named, {.against = &against}), console);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
