// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/plan/transfers.h"

namespace lowtide::budget_internal {

// Later than every time that matters. Sums of two such times do not overflow.
inline constexpr std::int64_t kForever = std::int64_t{1} << 61;

[[nodiscard]] inline std::int64_t later(std::int64_t time, std::int64_t by) {
  return time + by < kForever ? time + by : kForever;
}

// A budget problem with a link in the form that the searches work on. Nodes are numbers. The last one is an added node,
// the end, which reads all outputs of the problem and takes neither bytes nor time. It runs once, after all others.
class SwapProblem {
 public:
  using Index = std::uint32_t;

  SwapProblem(const BudgetProblem& problem, const TransferLink& link);

  [[nodiscard]] std::size_t count() const { return size.size(); }  // with the end
  [[nodiscard]] Index end() const { return static_cast<Index>(count() - 1); }
  [[nodiscard]] std::span<const Index> inputs(Index node) const {
    return {inputs_.data() + input_begin_[node], inputs_.data() + input_begin_[node + 1]};
  }
  [[nodiscard]] std::span<const Index> readers(Index node) const {
    return {readers_.data() + reader_begin_[node], readers_.data() + reader_begin_[node + 1]};
  }

  std::vector<std::int64_t> size;      // by node: bytes of its output
  std::vector<std::int64_t> own_load;  // by node: bytes that a run takes beside its inputs and what else is live
  std::vector<char> runs_once;         // by node: 0 or 1
  std::vector<std::int64_t> time;      // by node: nanoseconds of a run
  std::vector<std::int64_t> transfer;  // by node: nanoseconds of a transfer; kForever: it stays
  std::int64_t budget = 0;
  std::int64_t base_time = 0;  // of one run of each node

 private:
  std::vector<std::size_t> input_begin_;
  std::vector<std::size_t> reader_begin_;
  std::vector<Index> inputs_;
  std::vector<Index> readers_;
};

// A sequence of runs and fetches. A fetch of a node says that its output comes back over the link before the next run
// that reads it. Then it may be absent since the run before that uses it.
struct Item {
  SwapProblem::Index node = 0;
  bool is_fetch = false;
  friend bool operator==(const Item&, const Item&) = default;
};
using Items = std::vector<Item>;

}  // namespace lowtide::budget_internal
