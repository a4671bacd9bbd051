// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/allocate.h"
#include "lowtide/cli/json.h"
#include "lowtide/cli/model.h"
#include "lowtide/cli/options.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/cli/progress.h"
#include "lowtide/cli/verbs.h"
#include "lowtide/plan/packing_csv.h"
#include "lowtide/verify/packing_check.h"

namespace lowtide::detail {
namespace {

struct Seconds {
  double import = 0;
  double pack = 0;
  double verify = 0;
};

bool fits(const PackingProblem& problem, const Packing& packing) {
  return !problem.capacity || packing.height <= *problem.capacity;
}

const char* outcome_text(const PackingProblem& problem, const Packing& packing) {
  if (fits(problem, packing)) return "found";
  return packing.outcome == PackingOutcome::infeasible ? "infeasible" : "not_found";
}

// Whether offsets within the capacity exist, as far as is known.
Json feasible(const PackingProblem& problem, const Packing& packing) {
  if (fits(problem, packing)) return true;
  return packing.outcome == PackingOutcome::infeasible ? Json(false) : Json(nullptr);
}

Json json_of_packing(const std::string& path, const PackingProblem& problem, const Packing& packing,
                     const Seconds& seconds) {
  Json json = json_head("pack");
  json["path"] = json_text(path);
  json["buffers"] = problem.buffers.size();
  json["bound"] = packing.bound.count();
  json["height"] = packing.height.count();
  json["gap"] = json_of_gap(packing.height, packing.bound);
  json["strategy"] = packing.strategy;
  json["proven_optimal"] = packing.proven_optimal;
  json["capacity"] = problem.capacity ? Json(problem.capacity->count()) : Json(nullptr);
  json["fits"] = fits(problem, packing);
  json["outcome"] = outcome_text(problem, packing);
  json["feasible"] = feasible(problem, packing);
  json["witness_time"] = packing.witness_time ? Json(*packing.witness_time) : Json(nullptr);
  json["bound_by"] = packing.is_bound_searched ? "search" : "load";
  json["decisions"] = packing.decisions;
  json["verified"] = true;
  json["seconds"] = {{"import", seconds.import}, {"pack", seconds.pack}, {"verify", seconds.verify}};
  return json;
}

// Offsets that do not fit are right but for the capacity, so that is left out. What else is wrong is a bug.
void check_verified(PackingProblem problem, const Packing& packing) {
  if (!fits(problem, packing)) problem.capacity.reset();
  const std::vector<std::string> wrong = check_packing(problem, packing.offsets);
  if (wrong.empty()) return;
  std::string lines = "the offsets that were found are wrong; nothing was written";
  for (const std::string& line : wrong) lines += "\n  " + line;
  throw Stop(ExitCode::internal,
             lines + "\nThis is a bug in lowtide. Please report it with the command line, and the file if you can.");
}

}  // namespace

ExitCode run_pack(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.place("FILE");
  const std::optional<Bytes> capacity = read_size(arguments, "--capacity");
  AllocateOptions options;
  options.effort = read_count(arguments, "--effort", 0).value_or(options.effort);
  const std::optional<std::string> destination = arguments.value("--output");
  std::vector<std::string> destinations;
  if (destination) destinations.push_back(*destination);
  const OutputFiles files(destinations, {path}, arguments.has("--json"));
  if (files.uses_stdout()) console.keep_stdout_free();

  Seconds seconds;
  const Stopwatch reading;
  PackingProblem problem = take(import_packing(path));
  problem.capacity = capacity;
  seconds.import = reading.seconds();
  const Stopwatch packing_time;
  const Packing packing = [&] {
    const Progress progress(console, "packing");
    return take(allocate(problem, options), path);
  }();
  seconds.pack = packing_time.seconds();
  const Stopwatch verifying;
  check_verified(problem, packing);
  seconds.verify = verifying.seconds();

  const bool is_written = destination && fits(problem, packing);
  if (is_written) files.write(*destination, write_packing_csv(problem, packing.offsets), console);
  if (arguments.has("--json")) {
    print_json(console, json_of_packing(path, problem, packing, seconds));
  } else {
    console.result(packing_summary(path, problem, packing));
  }
  if (destination && !is_written)
    console.remark(StyledText("nothing was written, since the buffers do not fit").end_line());
  return fits(problem, packing) ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::detail
