// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/allocate/slots.h"
#include "lowtide/cli/interrupt.h"
#include "lowtide/cli/json.h"
#include "lowtide/cli/model.h"
#include "lowtide/cli/pack.h"
#include "lowtide/cli/progress.h"
#include "lowtide/plan/packing_csv.h"
#include "lowtide/report/packing_summary.h"
#include "lowtide/verify/check_packing.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::size_t kMostSizes = 1000;  // listed in JSON

struct Slots {
  SlotAssignment assignment;
  IdVector<PackingId, std::uint32_t> number;  // of the slot of each buffer
  bool is_bound_verified = false;
  bool is_interrupted = false;
  double pack_seconds = 0;
  double verify_seconds = 0;
};

bool fits(const PackingProblem& problem, const SlotAssignment& assignment) {
  return !problem.capacity || assignment.total <= *problem.capacity;
}

bool is_infeasible(const PackingProblem& problem, const SlotAssignment& assignment) {
  if (fits(problem, assignment)) return false;
  return assignment.proven_optimal || assignment.bound > *problem.capacity;
}

Json json_of_slots(const PackRequest& request, const PackingProblem& problem, const Slots& found) {
  const SlotAssignment& assignment = found.assignment;
  const bool is_fitting = fits(problem, assignment);
  const bool is_no = is_infeasible(problem, assignment);
  Json json = json_head("pack");
  json["path"] = json_text(request.path);
  json["kind"] = "slots";
  json["buffers"] = problem.buffers.size();
  json["bound"] = assignment.bound.count();
  json["total"] = assignment.total.count();
  json["gap"] = json_of_gap(assignment.total, assignment.bound);
  json["slots"] = assignment.sizes.size();
  json["slot_bytes"] = Json::array();
  for (std::uint32_t at = 0; at < std::min(kMostSizes, assignment.sizes.size()); ++at) {
    json["slot_bytes"].push_back(assignment.sizes[SlotId(at)].count());
  }
  json["strategy"] = assignment.strategy;
  json["proven_optimal"] = assignment.proven_optimal;
  json["interrupted"] = found.is_interrupted;
  json["bound_by"] = assignment.is_bound_searched ? "search" : "load";
  json["bound_verified"] = found.is_bound_verified ? Json(true) : Json("search");
  json["capacity"] = problem.capacity ? Json(problem.capacity->count()) : Json(nullptr);
  json["fits"] = is_fitting;
  json["outcome"] = is_fitting ? "found" : is_no ? "infeasible" : "not_found";
  json["feasible"] = is_fitting ? Json(true) : is_no ? Json(false) : Json(nullptr);
  json["verified"] = true;
  json["seconds"] = {
      {"import", request.import_seconds}, {"pack", found.pack_seconds}, {"verify", found.verify_seconds}};
  return json;
}

void check_verified(const PackingProblem& problem, Slots& found) {
  const SlotAssignment& assignment = found.assignment;
  const SlotClaim claim{found.number, {assignment.sizes.begin(), assignment.sizes.end()}, assignment.total};
  stop_if_wrong(check_slots(problem, claim), "the slots that were found are wrong");
  const SlotBoundCheck check = check_slot_bound(problem, assignment.bound);
  found.is_bound_verified = check.is_confirmed;
  if (check.is_confirmed || assignment.is_bound_searched) return;
  stop_if_wrong({"the bound is " + std::to_string(assignment.bound.count()) + " bytes, but moments prove " +
                 std::to_string(check.proven.count())},
                "the bound that was stated is not confirmed");
}

SlotFigures figures_of(const SlotAssignment& assignment) {
  return {.slots = assignment.sizes.size(),
          .largest = assignment.sizes.empty() ? Bytes(0) : assignment.sizes[SlotId(0)],
          .total = assignment.total,
          .bound = assignment.bound,
          .proven_optimal = assignment.proven_optimal,
          .strategy = assignment.strategy};
}

}  // namespace

ExitCode pack_slots(const PackRequest& request, const PackingProblem& problem, const OutputFiles& files,
                    Console& console) {
  Slots found;
  const Stopwatch packing_time;
  {
    const Progress progress(console, "sharing slots");
    const Interrupt interrupt;
    SlotOptions options;
    options.effort = request.effort.value_or(options.effort);
    options.stop = interrupt.flag();
    found.assignment = take(assign_slots(problem, options), request.path);
    found.is_interrupted = interrupt.was_asked();
  }
  for (SlotId slot : found.assignment.slot) found.number.push_back(slot.value());
  found.pack_seconds = packing_time.seconds();
  const Stopwatch verifying;
  check_verified(problem, found);
  found.verify_seconds = verifying.seconds();

  const bool is_done = fits(problem, found.assignment);
  if (is_done && request.csv_file) files.write(*request.csv_file, write_slots_csv(problem, found.number), console);
  if (request.prints_json) {
    print_json(console, json_of_slots(request, problem, found));
  } else {
    console.result(slots_summary(request.path, problem, figures_of(found.assignment)));
  }
  if (found.is_interrupted) console.remark(StyledText("interrupted; this is the best found until then").end_line());
  if (is_done) return ExitCode::done;
  if (request.csv_file) console.remark(StyledText("nothing was written, since the slots do not fit").end_line());
  return ExitCode::no;
}

}  // namespace lowtide::cli_internal
