// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bounds/decide_order.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "lowtide/verify/bounds/chains.h"
#include "lowtide/verify/bounds/downset_walk.h"

namespace lowtide::verify_internal {
namespace {

using Index = Chain::Index;
using End = DownsetWalk::End;

constexpr std::int64_t kFirstTurn = 1'000'000;
constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;  // for the sets of all walks

// A count and its reverse, with the chains of each.
struct BothWays {
  explicit BothWays(const OrderCount& count)
      : forward(count),
        backward(turned(count)),
        chains(joined_chains(count)),
        turned_chains(turned(chains, count.nodes.size())) {}

  const OrderCount& forward;
  const OrderCount backward;
  const std::vector<Chain> chains;
  const std::vector<Chain> turned_chains;
};

// The chains between two cuts, walked from both ends.
class Subproblem {
 public:
  Subproblem(const BothWays& ways, Index begin, Index end, std::int64_t most, std::int64_t& bytes_left)
      : count_(static_cast<Index>(ways.chains.size())),
        forward_({ways.forward, ways.chains, begin, end}, most, bytes_left),
        backward_({ways.backward, ways.turned_chains, count_ - end, count_ - begin}, most, bytes_left) {}

  // Runs the forward walk, and the backward walk if the first does not decide. Each spends about `work`.
  End run(std::int64_t work) {
    End end = forward_.run(work);
    is_backward_ = end == End::open;
    if (is_backward_) end = backward_.run(work);
    return end;
  }

  [[nodiscard]] std::int64_t bytes() const { return forward_.bytes() + backward_.bytes(); }
  [[nodiscard]] std::int64_t sets() const { return forward_.sets() + backward_.sets(); }
  [[nodiscard]] std::int64_t work() const { return forward_.work() + backward_.work(); }
  // Returns the chains in order. Requires: the last run was complete.
  [[nodiscard]] std::vector<Index> order() {
    if (!is_backward_) return forward_.order();
    std::vector<Index> order = backward_.order();
    std::reverse(order.begin(), order.end());
    for (Index& chain : order) chain = count_ - 1 - chain;
    return order;
  }

 private:
  Index count_;
  DownsetWalk forward_;
  DownsetWalk backward_;
  bool is_backward_ = false;
};

class Decision {
 public:
  Decision(const OrderCount& count, std::int64_t most)
      : ways_(count),
        cuts_(cuts_of(ways_.chains)),
        most_(most),
        subproblems_(cuts_.size() - 1),
        orders_(subproblems_.size()) {}

  OrderDecision run(std::int64_t effort) && {
    effort_ = effort;
    for (std::int64_t turn = kFirstTurn; run_turn(turn); turn *= 2) {
    }
    for (const std::unique_ptr<Subproblem>& one : subproblems_) decision_.sets += one ? one->sets() : 0;
    if (decision_.verdict == OrderBoundVerdict::refuted) collect_order();
    return std::move(decision_);
  }

 private:
  // Gives each undecided subproblem a turn. Returns whether another turn may decide.
  bool run_turn(std::int64_t turn) {
    bool is_open = false;
    for (std::size_t at = 0; at < subproblems_.size(); ++at) {
      if (!orders_[at].empty()) continue;
      if (effort_ <= 0 || bytes_left_ <= 0) return false;
      if (!subproblems_[at])
        subproblems_[at] = std::make_unique<Subproblem>(ways_, cuts_[at], cuts_[at + 1], most_, bytes_left_);
      Subproblem& one = *subproblems_[at];
      const std::int64_t before = one.work();
      const End end = one.run(std::min(turn, effort_));
      effort_ -= one.work() - before;
      if (end == End::exhausted) {
        decision_.verdict = OrderBoundVerdict::confirmed;
        return false;
      }
      if (end == End::complete) {
        orders_[at] = one.order();
        decision_.sets += one.sets();
        bytes_left_ += one.bytes();
        subproblems_[at].reset();
      } else {
        is_open = true;
      }
    }
    if (!is_open) decision_.verdict = OrderBoundVerdict::refuted;
    return is_open && bytes_left_ > 0;
  }

  void collect_order() {
    for (const std::vector<Index>& order : orders_) {
      for (Index chain : order) {
        for (Index node : ways_.chains[chain].nodes) decision_.order.emplace_back(node);
      }
    }
  }

  const BothWays ways_;
  const std::vector<Index> cuts_;
  const std::int64_t most_;
  std::vector<std::unique_ptr<Subproblem>> subproblems_;  // nullptr: not begun, or decided
  std::vector<std::vector<Index>> orders_;                // by subproblem; empty: not decided
  std::int64_t effort_ = 0;
  std::int64_t bytes_left_ = kMostBytes;
  OrderDecision decision_;
};

}  // namespace

OrderDecision decide_order(const OrderCount& count, std::int64_t most, std::int64_t effort) {
  return Decision(count, most).run(effort);
}

}  // namespace lowtide::verify_internal
