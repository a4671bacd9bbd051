// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_transfers.h"

#include <algorithm>
#include <optional>
#include <string>

#include "lowtide/verify/budget/entry_facts.h"
#include "lowtide/verify/budget/link_clock.h"
#include "lowtide/verify/budget/transfer_replay.h"
#include "lowtide/verify/findings.h"

namespace lowtide {
namespace verify_internal {
namespace {

std::string written(std::int64_t number) { return std::to_string(number); }

void check_claims(const BudgetProblem& problem, const SwapAnswer& answer, const TransferReplay& replay,
                  const LinkClock& clock, Findings& findings) {
  const auto wrong = [&](const std::string& message) { findings.add(ViolationKind::wrong_claim, message); };
  const auto compare = [&](const std::string& name, std::int64_t claimed, std::int64_t counted) {
    if (claimed == counted) return;
    wrong("the claimed " + name + " is " + written(claimed) + ", but the sequence gives " + written(counted));
  };
  const auto [peak, at] = replay.peak();
  compare("time", answer.time, clock.time());
  compare("base time", answer.base_time, clock.base_time());
  compare("stall time", answer.stall_time, clock.stall_time());
  for (std::size_t copy = 0; copy < answer.transfers.size(); ++copy) {
    compare("begin of transfer " + std::to_string(copy), answer.transfers[copy].begin, clock.begins()[copy]);
    compare("end of transfer " + std::to_string(copy), answer.transfers[copy].end, clock.ends()[copy]);
  }
  for (std::size_t copy = 0; copy < answer.fetches.size(); ++copy) {
    compare("begin of fetch " + std::to_string(copy), answer.fetches[copy].begin, clock.fetch_begins()[copy]);
    compare("end of fetch " + std::to_string(copy), answer.fetches[copy].end, clock.fetch_ends()[copy]);
  }
  compare("peak", answer.peak.count(), peak.count());
  if (answer.time_bound < clock.base_time()) wrong("the bound of the time is below that of one run of each node");
  if (answer.outcome != BudgetOutcome::found) return;
  if (answer.time_bound > clock.time()) wrong("the bound of the time is above the time");
  if (peak <= problem.budget) return;
  const std::string place = at < answer.runs.size() ? "run " + std::to_string(at) : "the end";
  findings.add(ViolationKind::out_of_region, place + " has " + written(peak.count()) +
                                                 " live bytes, and the budget is " + written(problem.budget.count()));
}

}  // namespace
}  // namespace verify_internal

std::vector<Violation> check_transfers(const BudgetProblem& problem, const TransferLink& link, const SwapAnswer& answer,
                                       const VerifyOptions& options) {
  verify_internal::Findings findings(options);
  verify_internal::TransferReplay replay(problem, answer, findings);
  if (!replay.replay()) return std::move(findings).take();
  verify_internal::LinkClock clock(problem, link);
  if (!clock.replay(answer)) {
    findings.add(ViolationKind::malformed, "the times of runs and transfers exceed the limits");
  } else {
    verify_internal::check_claims(problem, answer, replay, clock, findings);
  }
  return std::move(findings).take();
}

bool check_too_large(const BudgetProblem& problem, std::optional<NodeId> node) {
  const verify_internal::EntryFacts facts(problem);
  if (node && !facts.is_run(*node)) return false;
  Bytes needed = facts.states() + (node ? facts.taken_by(*node) : Bytes(0));
  for (NodeId entry : node ? facts.reads(*node) : facts.outputs()) needed += problem.nodes[entry].size;
  return needed > problem.budget;
}

}  // namespace lowtide
