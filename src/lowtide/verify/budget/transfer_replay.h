// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/plan/transfers.h"
#include "lowtide/verify/budget/run_replay.h"
#include "lowtide/verify/findings.h"

namespace lowtide::verify_internal {

// The outputs of runs, and copies of values that begin outside, as they come into memory and leave it, replayed
// forwards. Position runs.size() is the end.
class TransferReplay {
 public:
  TransferReplay(const BudgetProblem& problem, const SwapAnswer& answer, Findings& findings);

  // Returns false if the sequence cannot be replayed.
  bool replay();

  // The most live bytes of all runs and of the end, and where.
  [[nodiscard]] std::pair<Bytes, std::size_t> peak() const;

 private:
  // Bytes in memory: occupied from run `begin` on, complete before run `usable`.
  struct Stay {
    std::size_t begin = 0;
    std::size_t usable = 0;
    std::size_t end = 0;                          // the first position that does not need them any more
    std::optional<std::size_t> overwritten = {};  // of a fetched copy: by this run
  };
  using Stays = std::vector<Stay>;  // of one output or value, in their order

  bool report(ViolationKind kind, std::string message);
  bool check_transfers();
  bool check_fetches();
  void find_contents();
  bool begin_stays();
  bool begin_copy(std::size_t number, Stays& stays, std::optional<std::size_t>& outside);
  bool begin_fetches();
  bool use(Stays& stays, std::size_t at, const std::string& what);
  bool use_all();
  void spoil_fetched(std::size_t at);
  void spoil_fetched(std::size_t at, NodeId written);

  const BudgetProblem& problem_;
  const SwapAnswer& answer_;
  Findings& findings_;
  RunReplay runs_;
  std::vector<std::vector<std::size_t>> made_;  // by run: the contents that it makes
  std::vector<std::size_t> content_of_;         // by transfer
  std::vector<Stays> stays_;                    // by content
  IdVector<NodeId, Stays> fetched_stays_;       // by entry
};

}  // namespace lowtide::verify_internal
