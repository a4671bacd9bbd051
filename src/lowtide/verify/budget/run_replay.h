// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/plan/budget_problem.h"
#include "lowtide/verify/budget/entry_storage.h"
#include "lowtide/verify/findings.h"

namespace lowtide::verify_internal {

// How entries with `fetched_over` are in the sequence: as runs, or as copies beside the runs (plan/transfers.h).
enum class Fetched : std::uint8_t { runs, copies };

// Replays the runs of a budget problem forwards. It knows at each moment which run wrote the bytes of an entry, and
// which run has overwritten them. It stops at the first run that breaks a rule of plan/budget_problem.h.
class RunReplay {
 public:
  // Bytes that a run has made, or those of a state before the first run.
  struct Content {
    NodeId entry;                                 // a run, a part or a state
    std::size_t made = 0;                         // position of the run; of a state 0
    std::size_t last_use = 0;                     // the last run that needs them; the number of runs: the end
    std::optional<std::size_t> overwritten = {};  // position of the run that has overwritten them
  };

  RunReplay(const BudgetProblem& problem, const std::vector<NodeId>& runs, Findings& findings,
            Fetched fetched = Fetched::runs);

  // Returns false if a run breaks a rule, which is then among the findings.
  bool replay();

  [[nodiscard]] std::int64_t cost() const { return cost_; }
  [[nodiscard]] const std::vector<Content>& contents() const { return contents_; }
  // By position: indices of the contents that the run needs, or the end at the last position.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& needs() const { return needs_; }
  // By position: what it needs that was fetched as a copy.
  [[nodiscard]] const std::vector<std::vector<NodeId>>& fetched_needs() const { return fetched_needs_; }

  // By position, and at the last one the end: the bytes that are live whatever is kept, which are those of states, of
  // seeds, and what the run takes in addition to outputs.
  [[nodiscard]] std::vector<Bytes> fixed_loads() const;
  // By position, and at the last one the end: all live bytes, if contents are kept up to their last use.
  [[nodiscard]] std::vector<Bytes> loads() const;

  [[nodiscard]] const EntryStorage& storage() const { return storage_; }
  [[nodiscard]] const std::vector<NodeId>& parts_of(NodeId run) const { return parts_[run]; }
  // "run 3 of node 7".
  [[nodiscard]] std::string run_name(std::size_t at) const;

 private:
  bool report(ViolationKind kind, std::string message);
  [[nodiscard]] bool is_copied(NodeId entry) const;
  void find_writers();
  bool check_kind(std::size_t at);
  bool read_bytes(std::size_t at, NodeId entry);
  bool check_order(std::size_t at);
  void write(std::size_t at);
  void spoil(std::size_t at, NodeId entry);
  void make(std::size_t at, NodeId entry);
  bool check_end();
  bool check_groups();

  const BudgetProblem& problem_;
  const std::vector<NodeId>& runs_;
  Findings& findings_;
  const Fetched fetched_;
  const EntryStorage storage_;
  IdVector<NodeId, std::optional<NodeId>> writer_;        // by entry with bytes: the run that overwrites them
  IdVector<NodeId, std::vector<NodeId>> parts_;           // by run
  IdVector<NodeId, std::vector<NodeId>> later_writers_;   // by run: what must come after it, by `before`
  IdVector<NodeId, std::optional<std::size_t>> first_;    // the first run of each entry
  IdVector<NodeId, std::optional<std::size_t>> latest_;   // the latest run of each entry
  IdVector<NodeId, std::optional<std::size_t>> content_;  // by entry: index of its latest content
  std::vector<Content> contents_;
  std::vector<std::vector<std::size_t>> needs_;
  std::vector<std::vector<NodeId>> fetched_needs_;
  std::int64_t cost_ = 0;
};

}  // namespace lowtide::verify_internal
