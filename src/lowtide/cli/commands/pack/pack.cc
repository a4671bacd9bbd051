// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/limits.h"
#include "lowtide/cli/commands/pack/pack_request.h"
#include "lowtide/cli/handlers.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/import/csv.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::int64_t kMostThreads = 256;

PackRequest read_pack_request(const Arguments& arguments) {
  PackRequest request;
  request.path = arguments.positional("FILE");
  request.effort = read_count(arguments, "--effort", 0);
  request.threads = static_cast<int>(read_count(arguments, "--threads", 1, kMostThreads).value_or(request.threads));
  request.csv_file = arguments.value("--output");
  request.page_file = arguments.value("--html");
  request.prints_json = arguments.has("--json");
  request.wide = arguments.has("--wide");
  if (arguments.has("--slots") && request.page_file) {
    stop_usage("'--html' draws addresses, which slots do not have; omit '--html' or '--slots'");
  }
  return request;
}

PackingProblem read_problem(const std::string& path) {
  if (path != "-") return take(import_packing(path));
  return take(parse_packing(take(read_text_file(path, limits::kMaxFileBytes))), "stdin");
}

OutputFiles check_outputs(const PackRequest& request) {
  std::vector<std::string> destinations;
  if (request.csv_file) destinations.push_back(*request.csv_file);
  if (request.page_file) destinations.push_back(*request.page_file);
  return {destinations, {request.path}, request.prints_json};
}

Json json_of_answer(const PackRequest& request, const PackingProblem& problem, const PackAnswer& answer) {
  const PackingFigures& figures = answer.figures;
  Json json = json_head("pack");
  json["path"] = json_text(request.path);
  json["kind"] = figures.what;
  json["buffers"] = problem.buffers.size();
  json["bound"] = figures.bound.count();
  json["gap"] = json_of_gap(figures.size, figures.bound);
  json["strategy"] = figures.strategy;
  json["proven_optimal"] = figures.proven_optimal;
  json["interrupted"] = answer.is_interrupted;
  json["capacity"] = problem.capacity ? Json(problem.capacity->count()) : Json(nullptr);
  json["fits"] = figures.fits;
  json["outcome"] = figures.fits ? "found" : figures.is_infeasible ? "infeasible" : "not_found";
  json["feasible"] = figures.fits ? Json(true) : figures.is_infeasible ? Json(false) : Json(nullptr);
  json["bound_by"] = answer.is_bound_searched ? "search" : "load";
  json["bound_verified"] = answer.is_bound_verified ? Json(true) : Json("search");
  json["verified"] = true;
  json.update(answer.json);
  json["seconds"] = {
      {"import", request.import_seconds}, {"pack", answer.pack_seconds}, {"verify", answer.verify_seconds}};
  return json;
}

}  // namespace

void stop_if_wrong(const std::vector<Violation>& wrong, const std::string& what) {
  if (wrong.empty()) return;
  std::string lines = what + "; nothing was written";
  for (const Violation& one : wrong) lines += "\n  " + one.message;
  stop_bug(lines, "file");
}

ExitCode run_pack(const Arguments& arguments, Console& console) {
  const std::optional<Bytes> capacity = read_size(arguments, "--capacity");
  PackRequest request = read_pack_request(arguments);
  const OutputFiles files = check_outputs(request);
  if (files.uses_stdout()) console.keep_stdout_free();

  const Stopwatch reading;
  PackingProblem problem = read_problem(request.path);
  problem.capacity = capacity;
  request.import_seconds = reading.seconds();
  const auto pack = arguments.has("--slots") ? pack_slots : pack_offsets;
  const PackAnswer answer = pack(request, problem, console);

  const bool fits = answer.figures.fits;
  if (fits && request.csv_file) files.write(*request.csv_file, answer.csv, console);
  if (fits && request.page_file) files.write(*request.page_file, answer.page, console);
  if (request.prints_json) {
    print_json(console, json_of_answer(request, problem, answer));
  } else {
    console.result(packing_summary(name_of_file(request.path), problem, answer.figures));
  }
  if (answer.is_interrupted) console.remark(StyledText("interrupted; this is the best answer found so far").end_line());
  if (fits) return ExitCode::done;
  if (request.csv_file || request.page_file) {
    const std::string what = arguments.has("--slots") ? "slots" : "buffers";
    console.remark(StyledText("nothing was written, because the " + what + " do not fit").end_line());
  }
  return ExitCode::no;
}

}  // namespace lowtide::cli_internal
