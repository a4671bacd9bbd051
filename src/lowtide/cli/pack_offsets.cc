// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <filesystem>

#include "lowtide/allocate/allocate.h"
#include "lowtide/cli/help.h"
#include "lowtide/cli/interrupt.h"
#include "lowtide/cli/json.h"
#include "lowtide/cli/model.h"
#include "lowtide/cli/pack.h"
#include "lowtide/cli/progress.h"
#include "lowtide/plan/packing_csv.h"
#include "lowtide/report/packing_page.h"
#include "lowtide/report/packing_summary.h"
#include "lowtide/verify/check_packing.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::size_t kMostWitnesses = 1000;  // listed in JSON

// What was found, checked.
struct Offsets {
  Packing packing;
  std::optional<PackingWitness> witness;
  bool is_bound_verified = false;
  bool is_interrupted = false;
  double pack_seconds = 0;
  double verify_seconds = 0;
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

Json json_of_witness(const PackingProblem& problem, const std::optional<PackingWitness>& witness) {
  if (!witness) return nullptr;
  Json buffers = Json::array();
  for (std::size_t at = 0; at < std::min(kMostWitnesses, witness->live.size()); ++at) {
    buffers.push_back(json_text(name_of(problem, witness->live[at])));
  }
  return {{"time", witness->time},
          {"bytes", witness->load.count()},
          {"proven_bytes", witness->proven.count()},
          {"alone", witness->alone ? Json(json_text(name_of(problem, *witness->alone))) : Json(nullptr)},
          {"buffers", std::move(buffers)},
          {"buffers_total", witness->live.size()}};
}

Json json_of_offsets(const PackRequest& request, const PackingProblem& problem, const Offsets& found) {
  const Packing& packing = found.packing;
  Json json = json_head("pack");
  json["path"] = json_text(request.path);
  json["kind"] = "offsets";
  json["buffers"] = problem.buffers.size();
  json["bound"] = packing.bound.count();
  json["height"] = packing.height.count();
  json["gap"] = json_of_gap(packing.height, packing.bound);
  json["strategy"] = packing.strategy;
  json["proven_optimal"] = packing.proven_optimal;
  json["interrupted"] = found.is_interrupted;
  json["capacity"] = problem.capacity ? Json(problem.capacity->count()) : Json(nullptr);
  json["fits"] = fits(problem, packing);
  json["outcome"] = outcome_text(problem, packing);
  json["feasible"] = feasible(problem, packing);
  json["witness_time"] = packing.witness_time ? Json(*packing.witness_time) : Json(nullptr);
  json["witness"] = json_of_witness(problem, found.witness);
  json["bound_by"] = packing.is_bound_searched ? "search" : "load";
  json["bound_verified"] = found.is_bound_verified ? Json(true) : Json("search");
  json["decisions"] = packing.decisions;
  json["verified"] = true;
  json["seconds"] = {
      {"import", request.import_seconds}, {"pack", found.pack_seconds}, {"verify", found.verify_seconds}};
  return json;
}

std::string progress_text(const Packing& best) {
  std::string text = "best " + format_bytes_short(best.height);
  if (const std::optional<double> gap = gap_of(best.height, best.bound)) {
    text += ", gap " + (*gap > 0 && *gap < 0.001 ? "below 0.1 %"
                                                 : percent((best.height - best.bound).count(), best.bound.count()));
  }
  return text;
}

void search(const PackRequest& request, const PackingProblem& problem, const Console& console, Offsets& found) {
  Progress progress(console, "packing");
  const Interrupt interrupt;
  AllocateOptions options;
  options.effort = request.effort.value_or(options.effort);
  options.threads = request.threads;
  options.stop = interrupt.flag();
  if (console.shows_progress()) {
    options.on_improvement = [&](const Packing& best) { progress.note(progress_text(best)); };
  }
  found.packing = take(allocate(problem, options), request.path);
  found.is_interrupted = interrupt.was_asked();
}

// Offsets that do not fit are right but for the capacity, so that is left out. What else is wrong is a bug.
std::vector<std::string> check_offsets(const PackingProblem& problem, const Packing& packing) {
  if (fits(problem, packing)) return check_packing(problem, packing.offsets);
  PackingProblem uncapped = problem;
  uncapped.capacity.reset();
  return check_packing(uncapped, packing.offsets);
}

void check_verified(const PackingProblem& problem, Offsets& found) {
  const Packing& packing = found.packing;
  stop_if_wrong(check_offsets(problem, packing), "the offsets that were found are wrong");

  PackingBoundCheck check = check_packing_bound(problem, packing);
  if (packing.witness_time && packing.witness_buffers.empty()) {
    found.witness = {*packing.witness_time, check.load, check.proven, std::move(check.live), check.alone};
  }
  found.is_bound_verified = check.is_confirmed;
  if (check.is_confirmed || packing.is_bound_searched) return;
  stop_if_wrong({"the bound is " + std::to_string(packing.bound.count()) +
                 " bytes, but what is named as its witness proves " + std::to_string(check.proven.count())},
                "the bound that was stated is not confirmed");
}

}  // namespace

ExitCode pack_offsets(const PackRequest& request, const PackingProblem& problem, const OutputFiles& files,
                      Console& console) {
  Offsets found;
  const Stopwatch packing_time;
  search(request, problem, console, found);
  found.pack_seconds = packing_time.seconds();
  const Stopwatch verifying;
  check_verified(problem, found);
  found.verify_seconds = verifying.seconds();

  const bool is_done = fits(problem, found.packing);
  if (is_done && request.csv_file)
    files.write(*request.csv_file, write_packing_csv(problem, found.packing.offsets), console);
  if (is_done && request.page_file) {
    const std::string file_name = std::filesystem::path(request.path).filename().string();
    const PackingPageOptions page{.name = file_name, .tool = tool_name(), .is_verified = true};
    files.write(*request.page_file, packing_page(problem, found.packing, page), console);
  }
  if (request.prints_json) {
    print_json(console, json_of_offsets(request, problem, found));
  } else {
    console.result(packing_summary(request.path, problem, found.packing, found.witness));
  }
  if (found.is_interrupted) console.remark(StyledText("interrupted; this is the best found until then").end_line());
  if (is_done) return ExitCode::done;
  if (request.csv_file || request.page_file)
    console.remark(StyledText("nothing was written, since the buffers do not fit").end_line());
  return ExitCode::no;
}

}  // namespace lowtide::cli_internal
