// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lowtide/allocate/slots.h"
#include "lowtide/cli/commands/pack/pack_request.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/plan/packing_csv.h"
#include "lowtide/report/packing_summary.h"
#include "lowtide/verify/check_packing.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::size_t kMostSizes = 1000;  // listed in JSON

IdVector<PackingId, std::uint32_t> numbers_of(const SlotAssignment& assignment) {
  IdVector<PackingId, std::uint32_t> numbers;
  for (SlotId slot : assignment.slot) numbers.push_back(slot.value());
  return numbers;
}

void check_assignment(const PackingProblem& problem, const SlotAssignment& assignment, PackAnswer& answer) {
  const SlotClaim claim{numbers_of(assignment), {assignment.sizes.begin(), assignment.sizes.end()}, assignment.total};
  stop_if_wrong(check_slots(problem, claim), "the search found wrong slots");
  const SlotBoundCheck bound = check_slot_bound(problem, assignment.bound);
  answer.is_bound_verified = bound.is_confirmed;
  if (bound.is_confirmed || assignment.is_bound_searched) return;
  stop_if_wrong({{.kind = ViolationKind::wrong_claim,
                  .message = "the bound is " + std::to_string(assignment.bound.count()) +
                             " bytes, but the live buffers prove only " + std::to_string(bound.proven.count())}},
                "the stated bound is not confirmed");
}

SlotAssignment find_slots(const PackRequest& request, const PackingProblem& problem, const Console& console,
                          bool& is_interrupted) {
  const Progress progress(console, "sharing slots");
  const Interrupt interrupt;
  SlotOptions options;
  options.effort = request.effort.value_or(options.effort);
  options.stop = interrupt.flag();
  SlotAssignment assignment = take(assign_slots(problem, options), request.path);
  is_interrupted = interrupt.was_asked();
  return assignment;
}

}  // namespace

PackAnswer pack_slots(const PackRequest& request, const PackingProblem& problem, const Console& console) {
  PackAnswer answer;
  const Stopwatch packing_time;
  const SlotAssignment assignment = find_slots(request, problem, console, answer.is_interrupted);
  answer.pack_seconds = packing_time.seconds();
  const Stopwatch verifying;
  check_assignment(problem, assignment, answer);
  answer.verify_seconds = verifying.seconds();

  answer.figures = slot_figures(problem,
                                {.what = "slots",
                                 .size = assignment.total,
                                 .bound = assignment.bound,
                                 .strategy = assignment.strategy,
                                 .proven_optimal = assignment.proven_optimal},
                                {assignment.sizes.begin(), assignment.sizes.end()});
  answer.is_bound_searched = assignment.is_bound_searched;
  answer.json["total"] = assignment.total.count();
  answer.json["slots"] = assignment.sizes.size();
  answer.json["slot_bytes"] = Json::array();
  for (std::uint32_t at = 0; at < std::min(kMostSizes, assignment.sizes.size()); ++at) {
    answer.json["slot_bytes"].push_back(assignment.sizes[SlotId(at)].count());
  }
  if (request.csv_file) answer.csv = write_slots_csv(problem, numbers_of(assignment));
  return answer;
}

}  // namespace lowtide::cli_internal
