// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/plan/transfers.h"

namespace lowtide::verify_internal {

// Counts the time of runs and transfers by the rules of plan/transfers.h.
class LinkClock {
 public:
  LinkClock(const BudgetProblem& problem, const TransferLink& link) : problem_(problem), link_(link) {}

  // Returns false if a copy or one run of each node takes more than kMaxTime, or a time exceeds 64 bits. Requires: the
  // runs and copies have valid positions, and transfers and fetches are in the order of their issue.
  bool replay(const SwapAnswer& answer);

  [[nodiscard]] std::int64_t time() const { return time_; }
  // The part of the time in which no node runs.
  [[nodiscard]] std::int64_t stall_time() const { return stall_time_; }
  // When each transfer begins, and when it ends.
  [[nodiscard]] const std::vector<std::int64_t>& begins() const { return begins_; }
  [[nodiscard]] const std::vector<std::int64_t>& ends() const { return ends_; }
  [[nodiscard]] std::int64_t base_time() const { return base_time_; }

  // When each fetch begins, and when it ends.
  [[nodiscard]] const std::vector<std::int64_t>& fetch_begins() const { return fetch_begins_; }
  [[nodiscard]] const std::vector<std::int64_t>& fetch_ends() const { return fetch_ends_; }

  // The time of one run, which is 0 for a fetched value; nullopt if it is longer than kMaxTime.
  [[nodiscard]] std::optional<std::int64_t> run_time(const BudgetNode& node) const;

 private:
  bool count_base();
  bool run_copies(const SwapAnswer& answer, std::size_t at, std::int64_t now);
  bool run_copy(const Transfer& transfer, std::size_t number, std::int64_t now, std::int64_t taken);
  bool run_fetches(const SwapAnswer& answer, std::size_t at, std::int64_t now);

  const BudgetProblem& problem_;
  const TransferLink& link_;
  std::int64_t time_ = 0;
  std::int64_t base_time_ = 0;
  std::int64_t stall_time_ = 0;
  std::vector<std::int64_t> begins_;
  std::vector<std::int64_t> ends_;
  std::vector<std::int64_t> fetch_begins_;
  std::vector<std::int64_t> fetch_ends_;
  std::size_t next_copy_ = 0;
  std::size_t next_fetch_ = 0;
  std::array<std::int64_t, 2> free_{};              // by direction: when the link has copied all so far
  std::array<std::vector<std::int64_t>, 2> due_{};  // by direction and position: the latest end of a copy
  std::vector<std::int64_t> link_free_;             // by link of the problem: when it has copied all so far
  std::vector<std::int64_t> fetch_due_;             // by position: the latest end of a fetch
};

}  // namespace lowtide::verify_internal
