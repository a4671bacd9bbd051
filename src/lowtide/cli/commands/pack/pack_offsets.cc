// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <filesystem>

#include "lowtide/allocate/allocate.h"
#include "lowtide/cli/commands/pack/pack_request.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/tool_name.h"
#include "lowtide/plan/packing_csv.h"
#include "lowtide/report/packing_page.h"
#include "lowtide/report/packing_summary.h"
#include "lowtide/verify/check_packing.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::size_t kMostWitnesses = 1000;  // listed in JSON

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

std::string progress_text(const Packing& best) {
  std::string text = "best " + format_bytes_short(best.height);
  if (const std::optional<double> gap = gap_of(best.height, best.bound)) {
    text += ", gap " + (*gap > 0 && *gap < 0.001 ? "below 0.1 %"
                                                 : percent((best.height - best.bound).count(), best.bound.count()));
  }
  return text;
}

Packing find_offsets(const PackRequest& request, const PackingProblem& problem, const Console& console,
                     bool& is_interrupted) {
  Progress progress(console, "packing");
  const Interrupt interrupt;
  AllocateOptions options;
  options.effort = request.effort.value_or(options.effort);
  options.threads = request.threads;
  options.stop = interrupt.flag();
  if (console.shows_progress()) {
    options.on_improvement = [&](const Packing& best) { progress.note(progress_text(best)); };
  }
  Packing packing = take(allocate(problem, options), request.path);
  is_interrupted = interrupt.was_asked();
  return packing;
}

// Offsets that do not fit violate only the capacity, which is not checked here. Any other violation is a bug.
void check_offsets(const PackingProblem& problem, const Packing& packing) {
  const bool fits = !problem.capacity || packing.height <= *problem.capacity;
  const auto& check = fits ? check_packing : check_packing_without_capacity;
  stop_if_wrong(check(problem, packing.offsets, {}), "the search found wrong offsets");
}

// The witness of the bound, if it is a time at which buffers are live.
std::optional<PackingWitness> check_bound(const PackingProblem& problem, const Packing& packing, PackAnswer& answer) {
  PackingBoundCheck check = check_packing_bound(problem, packing);
  answer.is_bound_verified = check.is_confirmed;
  if (!check.is_confirmed && !packing.is_bound_searched) {
    stop_if_wrong({{.kind = ViolationKind::wrong_claim,
                    .message = "the bound is " + std::to_string(packing.bound.count()) +
                               " bytes, but its witness proves only " + std::to_string(check.proven.count())}},
                  "the stated bound is not confirmed");
  }
  if (!packing.witness_time || !packing.witness_buffers.empty()) return std::nullopt;
  return PackingWitness{*packing.witness_time, check.load, check.proven, std::move(check.live), check.alone};
}

}  // namespace

PackAnswer pack_offsets(const PackRequest& request, const PackingProblem& problem, const Console& console) {
  PackAnswer answer;
  const Stopwatch packing_time;
  const Packing packing = find_offsets(request, problem, console, answer.is_interrupted);
  answer.pack_seconds = packing_time.seconds();
  const Stopwatch verifying;
  check_offsets(problem, packing);
  const std::optional<PackingWitness> witness = check_bound(problem, packing, answer);
  answer.verify_seconds = verifying.seconds();

  answer.figures = figures_of(problem, packing, witness, request.wide);
  answer.is_bound_searched = packing.is_bound_searched;
  answer.json["height"] = packing.height.count();
  answer.json["witness_time"] = packing.witness_time ? Json(*packing.witness_time) : Json(nullptr);
  answer.json["witness"] = json_of_witness(problem, witness);
  answer.json["decisions"] = packing.decisions;
  if (!answer.figures.fits) return answer;
  if (request.csv_file) answer.csv = write_packing_csv(problem, packing.offsets);
  if (request.page_file) {
    const std::string file_name = std::filesystem::path(request.path).filename().string();
    answer.page = packing_page(problem, packing, {.name = file_name, .tool = tool_name(), .is_verified = true});
  }
  return answer;
}

}  // namespace lowtide::cli_internal
