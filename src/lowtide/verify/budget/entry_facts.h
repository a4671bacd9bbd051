// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/verify/budget/entry_storage.h"

namespace lowtide::verify_internal {

// What the proofs about a budget problem need: which run makes the bytes that another run reads. Views are followed.
// States are always there, so no run depends on them, and their bytes are a sum.
class EntryFacts {
 public:
  explicit EntryFacts(const BudgetProblem& problem);

  // Whether an entry has bytes that runs make: a run or a part.
  [[nodiscard]] bool is_made(NodeId entry) const {
    return problem_.nodes.contains(entry) && !problem_.nodes[entry].view_of && !problem_.nodes[entry].is_state;
  }
  [[nodiscard]] bool is_run(NodeId entry) const { return is_made(entry) && !problem_.nodes[entry].part_of; }
  // The run that makes an entry. Requires: is_made(entry).
  [[nodiscard]] NodeId maker(NodeId entry) const { return problem_.nodes[entry].part_of.value_or(entry); }
  [[nodiscard]] const std::vector<NodeId>& parts(NodeId run) const { return parts_[run]; }
  // What a run reads that is made. Ascending, each once.
  [[nodiscard]] const std::vector<NodeId>& reads(NodeId run) const { return reads_[run]; }
  [[nodiscard]] bool reads(NodeId run, NodeId entry) const;
  // The runs that read an entry. Ascending, each once.
  [[nodiscard]] const std::vector<NodeId>& readers(NodeId entry) const { return readers_[entry]; }
  // What must exist after the last run and is made. Ascending, each once.
  [[nodiscard]] const std::vector<NodeId>& outputs() const { return outputs_; }
  [[nodiscard]] bool is_output(NodeId entry) const;
  [[nodiscard]] Bytes states() const { return states_; }
  // The outputs, parts and extra bytes of a run.
  [[nodiscard]] Bytes taken_by(NodeId run) const;
  // By run: the runs that must have run for the first time before it, except those that follow from its reads.
  [[nodiscard]] const std::vector<NodeId>& earlier(NodeId run) const { return earlier_[run]; }
  // By run: the runs before whose first run it has run for the last time.
  [[nodiscard]] const std::vector<NodeId>& writers_after(NodeId run) const { return writers_after_[run]; }
  // Whether a run never happens again in any sequence: it must not, it overwrites a state, or its group has it once.
  [[nodiscard]] bool happens_once(NodeId run) const;

 private:
  void find_order();

  const BudgetProblem& problem_;
  EntryStorage storage_;
  IdVector<NodeId, std::vector<NodeId>> parts_;
  IdVector<NodeId, std::vector<NodeId>> reads_;
  IdVector<NodeId, std::vector<NodeId>> readers_;
  IdVector<NodeId, std::vector<NodeId>> earlier_;
  IdVector<NodeId, std::vector<NodeId>> writers_after_;
  IdVector<NodeId, std::size_t> agreed_runs_;  // how often its group has it
  Flags<NodeId> updates_state_;                // by run: some output of it is in the bytes of a state
  std::vector<NodeId> outputs_;
  Bytes states_;
};

}  // namespace lowtide::verify_internal
