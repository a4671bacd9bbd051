// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>

#include "lowtide/base/checked.h"
#include "lowtide/verify/check_budget.h"
#include "lowtide/verify/findings.h"

namespace lowtide {
namespace verify_internal {
namespace {

// Replays runs forwards. The end of each output's life is known only when a later run reads it, so loads are summed up
// from the changes at the end.
class RunReplay {
 public:
  RunReplay(const BudgetProblem& problem, const std::vector<NodeId>& runs, Findings& findings)
      : problem_(problem), runs_(runs), findings_(findings), latest_(problem.nodes.size()), last_use_(runs.size()) {}

  // Returns false if the runs cannot be replayed.
  bool replay() {
    for (std::size_t at = 0; at < runs_.size(); ++at) {
      if (!problem_.nodes.contains(runs_[at])) {
        return report(ViolationKind::malformed, "run " + std::to_string(at) + " is of a node that does not exist");
      }
      const BudgetNode& node = problem_.nodes[runs_[at]];
      for (NodeId input : node.reads) {
        if (!latest_[input]) {
          return report(ViolationKind::data_flow, "run " + std::to_string(at) + " of node " + number(runs_[at]) +
                                                      " reads node " + number(input) + ", which has not run yet");
        }
        last_use_[*latest_[input]] = at;
      }
      if (node.runs_once && latest_[runs_[at]]) {
        return report(ViolationKind::data_flow, "run " + std::to_string(at) + " is the second one of node " +
                                                    number(runs_[at]) + ", which must run only once");
      }
      latest_[runs_[at]] = at;
      last_use_[at] = at;
      cost_ = must_add(cost_, node.cost);
    }
    for (NodeId node : all_ids<NodeId>(problem_.nodes.size())) {
      if (!latest_[node]) return report(ViolationKind::missing_step, "node " + number(node) + " never runs");
      if (problem_.nodes[node].is_output) last_use_[*latest_[node]] = runs_.size() - 1;
    }
    return true;
  }

  [[nodiscard]] std::int64_t cost() const { return cost_; }

  // The live bytes of each run, and those after the last one.
  [[nodiscard]] std::vector<Bytes> loads() const {
    std::vector<Bytes> freed(runs_.size() + 1);  // by run: what is no longer live there
    std::vector<Bytes> loads;
    Bytes live;
    for (std::size_t at = 0; at < runs_.size(); ++at) {
      const Bytes size = problem_.nodes[runs_[at]].size;
      freed[last_use_[at] + 1] += size;
      live -= freed[at];
      live += size;
      loads.push_back(live + problem_.nodes[runs_[at]].extra);
    }
    Bytes outputs;
    for (const BudgetNode& node : problem_.nodes) outputs += node.is_output ? node.size : Bytes(0);
    loads.push_back(outputs);
    return loads;
  }

 private:
  static std::string number(NodeId node) { return std::to_string(node.value()); }
  bool report(ViolationKind kind, std::string message) {
    findings_.add({.kind = kind, .message = std::move(message)});
    return false;
  }

  const BudgetProblem& problem_;
  const std::vector<NodeId>& runs_;
  Findings& findings_;
  IdVector<NodeId, std::optional<std::size_t>> latest_;  // the latest run of each node
  std::vector<std::size_t> last_use_;                    // by run: the last run that needs its output
  std::int64_t cost_ = 0;
};

void check_claims(const BudgetProblem& problem, const BudgetAnswer& answer, const RunReplay& replay,
                  Findings& findings) {
  const auto wrong = [&](const std::string& message) {
    findings.add({.kind = ViolationKind::wrong_claim, .message = message});
  };
  const auto compare = [&](const std::string& name, std::int64_t claimed, std::int64_t counted) {
    if (claimed != counted) {
      wrong("the claimed " + name + " is " + std::to_string(claimed) + ", but the runs give " +
            std::to_string(counted));
    }
  };
  std::int64_t base = 0;
  for (const BudgetNode& node : problem.nodes) base = must_add(base, node.cost);
  const std::vector<Bytes> loads = replay.loads();
  const Bytes peak = *std::max_element(loads.begin(), loads.end());
  compare("cost", answer.cost, replay.cost());
  compare("base cost", answer.base_cost, base);
  compare("peak", answer.peak.count(), peak.count());
  if (answer.cost_bound < base) wrong("the bound of the cost is below the cost of one run of each node");
  if (answer.outcome != BudgetOutcome::found) return;
  if (answer.cost_bound > replay.cost()) wrong("the bound of the cost is above the cost");
  for (std::size_t at = 0; at < loads.size(); ++at) {
    if (loads[at] <= problem.budget) continue;
    const bool is_end = at == answer.runs.size();
    findings.add(
        {.kind = ViolationKind::out_of_region,
         .message = (is_end ? "the end"
                            : "run " + std::to_string(at) + " of node " + std::to_string(answer.runs[at].value())) +
                    " has " + std::to_string(loads[at].count()) + " live bytes, and the budget is " +
                    std::to_string(problem.budget.count())});
  }
}

}  // namespace
}  // namespace verify_internal

std::vector<Violation> check_budget_runs(const BudgetProblem& problem, const BudgetAnswer& answer,
                                         const VerifyOptions& options) {
  verify_internal::Findings findings(options);
  verify_internal::RunReplay replay(problem, answer.runs, findings);
  if (replay.replay()) verify_internal::check_claims(problem, answer, replay, findings);
  return std::move(findings).take();
}

}  // namespace lowtide
