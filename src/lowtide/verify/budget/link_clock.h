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

  // Returns false if a transfer or one run of each node takes more than kMaxTime, or a time exceeds 64 bits. Requires:
  // the runs and transfers have valid positions, and transfers are in the order of their issue.
  bool replay(const std::vector<NodeId>& runs, const std::vector<Transfer>& transfers);

  [[nodiscard]] std::int64_t time() const { return time_; }
  // The part of the time in which no node runs.
  [[nodiscard]] std::int64_t stall_time() const { return stall_time_; }
  // Of each transfer.
  [[nodiscard]] const std::vector<std::int64_t>& begins() const { return begins_; }
  [[nodiscard]] const std::vector<std::int64_t>& ends() const { return ends_; }
  [[nodiscard]] std::int64_t base_time() const { return base_time_; }

  // The time of one run, or of one transfer of this many bytes; nullopt if it is longer than kMaxTime.
  [[nodiscard]] std::optional<std::int64_t> run_time(const BudgetNode& node) const;
  [[nodiscard]] std::optional<std::int64_t> transfer_time(Bytes bytes) const;

 private:
  bool count_base();
  bool run_copy(const Transfer& transfer, std::size_t number, std::int64_t now, std::int64_t taken);

  const BudgetProblem& problem_;
  const TransferLink& link_;
  std::int64_t time_ = 0;
  std::int64_t base_time_ = 0;
  std::int64_t stall_time_ = 0;
  std::vector<std::int64_t> begins_;
  std::vector<std::int64_t> ends_;
  std::array<std::int64_t, 2> free_{};              // by direction: when the link has copied all so far
  std::array<std::vector<std::int64_t>, 2> due_{};  // by direction and position: the latest end of a copy
};

}  // namespace lowtide::verify_internal
