// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_transfers.h"

#include <algorithm>
#include <optional>
#include <string>

#include "lowtide/verify/budget/link_clock.h"
#include "lowtide/verify/findings.h"

namespace lowtide {
namespace verify_internal {
namespace {

std::string written(std::int64_t number) { return std::to_string(number); }

// The outputs of runs in memory, replayed forwards. Position runs.size() is the end.
class TransferReplay {
 public:
  TransferReplay(const BudgetProblem& problem, const SwapAnswer& answer, Findings& findings)
      : problem_(problem),
        runs_(answer.runs),
        transfers_(answer.transfers),
        findings_(findings),
        stays_(answer.runs.size()),
        changes_(answer.runs.size() + 2) {}

  // Returns false if the sequence cannot be replayed.
  bool replay() { return check_positions() && begin_stays() && read_inputs() && end_stays(); }

  // The most live bytes of all runs and of the end, and where.
  [[nodiscard]] std::pair<Bytes, std::size_t> peak() const {
    std::pair<Bytes, std::size_t> most{Bytes(0), 0};
    Bytes live;
    for (std::size_t at = 0; at <= runs_.size(); ++at) {
      live += changes_[at];
      const Bytes load = at < runs_.size() ? live + problem_.nodes[runs_[at]].extra : live;
      if (load > most.first) most = {load, at};
    }
    return most;
  }

 private:
  // An output in memory: occupied from run `begin` on, complete before run `usable`.
  struct Stay {
    std::size_t begin = 0;
    std::size_t usable = 0;
    std::size_t last = 0;  // the last run that needs it
  };

  bool report(ViolationKind kind, std::string message) {
    findings_.add(kind, std::move(message));
    return false;
  }
  static std::string name(std::size_t transfer) { return "transfer " + std::to_string(transfer); }
  [[nodiscard]] std::string run_name(std::size_t run) const {
    return "run " + std::to_string(run) + " of node " + std::to_string(runs_[run].value());
  }

  bool check_positions() {
    std::size_t before = 0;
    for (std::size_t at = 0; at < transfers_.size(); ++at) {
      const Transfer& transfer = transfers_[at];
      if (transfer.run >= runs_.size()) {
        return report(ViolationKind::malformed, name(at) + " is of a run that does not exist");
      }
      if (transfer.issue < transfer.run || transfer.issue >= transfer.complete || transfer.complete > runs_.size()) {
        return report(ViolationKind::malformed, name(at) + " has positions " + written(transfer.issue) + " and " +
                                                    written(transfer.complete) + ", which do not follow its run " +
                                                    written(transfer.run) + " and each other");
      }
      if (transfer.issue < before) return report(ViolationKind::malformed, name(at) + " is issued before another one");
      before = transfer.issue;
    }
    return std::all_of(runs_.begin(), runs_.end(), [&](NodeId node) {
      return problem_.nodes.contains(node) ||
             report(ViolationKind::malformed, "a run is of a node that does not exist");
    });
  }

  bool begin_stays() {
    std::vector<std::optional<std::size_t>> outside(runs_.size());  // by run: where its copy outside is complete
    for (std::size_t run = 0; run < runs_.size(); ++run)
      stays_[run].push_back({.begin = run, .usable = run, .last = run});
    for (std::size_t at = 0; at < transfers_.size(); ++at) {
      const Transfer& transfer = transfers_[at];
      std::optional<std::size_t>& copy = outside[transfer.run];
      std::vector<Stay>& stays = stays_[transfer.run];
      if (transfer.direction == TransferDirection::out) {
        if (copy) return report(ViolationKind::malformed, name(at) + " copies an output out that is outside already");
        copy = transfer.complete;
        stays.back().last = std::max<std::size_t>(stays.back().last, transfer.complete - 1);
        continue;
      }
      if (!copy || *copy > transfer.issue) {
        return report(ViolationKind::data_flow, name(at) + " copies an output in that is not outside yet");
      }
      if (stays.back().usable > transfer.issue) {
        return report(ViolationKind::data_flow, name(at) + " copies an output in that is on its way already");
      }
      stays.push_back({.begin = transfer.issue + std::size_t{1}, .usable = transfer.complete, .last = 0});
      stays.back().last = std::max(stays.back().begin, stays.back().usable) - 1;
    }
    return true;
  }

  // The stay that a position sees is the last one that has begun.
  bool use(std::size_t made, std::size_t at, const std::string& reader) {
    std::vector<Stay>& stays = stays_[made];
    const auto later = std::find_if(stays.begin(), stays.end(), [&](const Stay& stay) { return stay.begin > at; });
    Stay& stay = *std::prev(later);
    if (stay.usable > at) {
      return report(ViolationKind::data_flow,
                    reader + " needs the output of " + run_name(made) + ", which is still on its way");
    }
    stay.last = std::max(stay.last, at);
    return true;
  }

  bool read_inputs() {
    IdVector<NodeId, std::optional<std::size_t>> latest(problem_.nodes.size());
    for (std::size_t at = 0; at < runs_.size(); ++at) {
      for (NodeId input : problem_.nodes[runs_[at]].reads) {
        if (!latest[input]) {
          return report(ViolationKind::data_flow,
                        run_name(at) + " reads node " + written(input.value()) + ", which has not run yet");
        }
        if (!use(*latest[input], at, run_name(at))) return false;
      }
      if (problem_.nodes[runs_[at]].runs_once && latest[runs_[at]]) {
        return report(ViolationKind::repeated_step, run_name(at) + " is the second one, and it must run only once");
      }
      latest[runs_[at]] = at;
    }
    for (NodeId node : all_ids<NodeId>(problem_.nodes.size())) {
      if (!latest[node]) return report(ViolationKind::missing_step, "node " + written(node.value()) + " never runs");
      if (problem_.nodes[node].is_output && !use(*latest[node], runs_.size(), "the end")) return false;
    }
    return true;
  }

  bool end_stays() {
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const Bytes size = problem_.nodes[runs_[run]].size;
      for (const Stay& stay : stays_[run]) {
        if (stay.last < stay.begin) continue;
        changes_[stay.begin] += size;
        changes_[stay.last + 1] -= size;
      }
    }
    return true;
  }

  const BudgetProblem& problem_;
  const std::vector<NodeId>& runs_;
  const std::vector<Transfer>& transfers_;
  Findings& findings_;
  std::vector<std::vector<Stay>> stays_;  // by run, in their order
  std::vector<Bytes> changes_;            // by position: live bytes more than at the position before
};

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
  if (!clock.replay(answer.runs, answer.transfers)) {
    findings.add(ViolationKind::malformed, "the times of runs and transfers exceed the limits");
  } else {
    verify_internal::check_claims(problem, answer, replay, clock, findings);
  }
  return std::move(findings).take();
}

bool check_too_large(const BudgetProblem& problem, std::optional<NodeId> node) {
  if (node && !problem.nodes.contains(*node)) return false;
  Bytes needed = node ? problem.nodes[*node].size + problem.nodes[*node].extra : Bytes(0);
  for (NodeId other : all_ids<NodeId>(problem.nodes.size())) {
    const auto& reads = problem.nodes[node.value_or(other)].reads;
    const bool is_needed =
        node ? std::find(reads.begin(), reads.end(), other) != reads.end() : problem.nodes[other].is_output;
    if (is_needed) needed += problem.nodes[other].size;
  }
  return needed > problem.budget;
}

}  // namespace lowtide
