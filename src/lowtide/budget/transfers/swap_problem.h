// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/plan/transfers.h"

namespace lowtide::budget_internal {

// Later than every time that matters. Sums of two such times do not overflow.
inline constexpr std::int64_t kForever = std::int64_t{1} << 61;

[[nodiscard]] inline std::int64_t later(std::int64_t time, std::int64_t by) {
  return time + by < kForever ? time + by : kForever;
}

// A budget problem with links, and with the end as a run: it reads all outputs of the problem, takes neither bytes nor
// time, and happens once, after all others. A *fetched* entry begins outside (BudgetNode::fetched_over). It is not a
// run of a sequence, but each of its copies comes in over its own link.
class SwapProblem : public RunProblem {
 public:
  SwapProblem(const BudgetProblem& problem, const TransferLink& link);

  [[nodiscard]] Index end() const { return static_cast<Index>(count() - 1); }
  // Links are numbered. kMainLink is the TransferLink, and the others are those that bring fetched entries.
  static constexpr std::uint32_t kMainLink = 0;
  [[nodiscard]] std::size_t link_count() const { return link_count_; }
  [[nodiscard]] bool is_fetched(Index entry) const { return link_of[entry] != kMainLink; }
  // The fetched entries that something reads, and the others. Both ascend.
  [[nodiscard]] const std::vector<Index>& fetched() const { return fetched_; }
  [[nodiscard]] const std::vector<Index>& unread() const { return unread_; }
  // Whether a second copy of a fetched entry is not allowed. `runs_once` is set for all of them, because no run makes
  // them.
  [[nodiscard]] bool is_fetched_once(Index entry) const { return is_fetched_once_[entry] != 0; }

  std::vector<std::int64_t> time;      // by run: nanoseconds
  std::vector<std::int64_t> transfer;  // by entry: nanoseconds of a copy; kForever: it stays
  std::vector<std::uint32_t> link_of;  // by entry
  std::int64_t base_time = 0;          // of one run of each node
  std::int64_t fetch_time = 0;         // of one copy of each fetched entry
  // What any sequence takes at least: base_time, or one copy of each fetched entry of a link and a run that reads one.
  std::int64_t least_time = 0;

 private:
  void find_times(const BudgetProblem& problem, const TransferLink& link);
  [[nodiscard]] std::int64_t link_time() const;

  std::size_t link_count_ = 1;
  std::vector<Index> fetched_;
  std::vector<Index> unread_;
  std::vector<char> is_fetched_once_;
};

// A sequence of runs and fetches. A fetch says that an entry comes back over its link before the next run that reads
// it. Then it may be absent since the run before that uses it. The first copy of a fetched entry needs no item.
struct Item {
  SwapProblem::Index node = 0;  // a run, or the entry that comes back
  bool is_fetch = false;
  friend bool operator==(const Item&, const Item&) = default;
};
using Items = std::vector<Item>;

}  // namespace lowtide::budget_internal
