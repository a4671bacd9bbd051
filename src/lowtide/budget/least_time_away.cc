// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/int128.h"
#include "lowtide/budget/offload.h"
#include "lowtide/budget/transfers/swap_problem.h"

namespace lowtide {
namespace budget_internal {
namespace {

using Index = SwapProblem::Index;

// Bytes that a link may move from a time on.
struct Ready {
  std::int64_t time = 0;
  std::int64_t bytes = 0;
};

// Marks what leads to a node, or what it leads to: next(node, reach) calls reach(other).
template <typename Next>
Flags<Index> reached(Index start, std::size_t count, Next next) {
  Flags<Index> found(count);
  std::vector<Index> open = {start};
  while (!open.empty()) {
    const Index node = open.back();
    open.pop_back();
    next(node, [&](Index other) {
      if (found.insert(other)) open.push_back(other);
    });
  }
  return found;
}

class AwaySearch {
 public:
  AwaySearch(const SwapProblem& problem, const TransferLink& link) : problem_(problem), link_(link) {
    for (Index node = 0; node < problem.count(); ++node) {
      heads_.push_back(problem.is_run(node) ? time_of(before(node)) + problem.time[node] : 0);
    }
    find_tails();
  }

  // Whether some row of the proof says something about a node that need not run before the milestone of its phase. Then
  // the proof counts outputs of such nodes as kept, and they may be what is outside.
  [[nodiscard]] bool counts_aside(const CostProof& proof) const {
    std::vector<Flags<Index>> earlier;
    for (NodeId milestone : proof.milestones) earlier.push_back(before(milestone.value()));
    const auto is_aside = [&](const std::pair<PhaseRow, std::int64_t>& row) {
      if (row.first.rule == PhaseRule::memory) return false;
      return !earlier[row.first.phase].test(problem_.owner(row.first.node.value()));
    };
    return std::any_of(proof.cases.begin(), proof.cases.end(),
                       [&](const ProofCase& one) { return std::any_of(one.rows.begin(), one.rows.end(), is_aside); });
  }

  [[nodiscard]] std::int64_t least(Index milestone, std::int64_t away, bool with_aside) const {
    const Flags<Index> earlier = before(milestone);
    const Flags<Index> later_nodes = after(milestone);
    Flags<Index> inputs(problem_.count());
    for (Index input : problem_.inputs(milestone)) inputs.set(input);
    std::vector<Ready> outs;
    std::vector<Ready> ins;
    for (Index node = 0; node < problem_.end(); ++node) {
      // What is fetched from outside never leaves.
      if (!problem_.is_run(node) || problem_.is_fetched(node)) continue;
      const bool is_aside = with_aside && node != milestone && !later_nodes.test(node);
      if (!earlier.test(node) && !is_aside) continue;
      problem_.for_each_entry(node, [&](Index entry) {
        if (inputs.test(entry)) return;
        outs.push_back({heads_[node], problem_.size[entry]});
        ins.push_back({tails_[entry], problem_.size[entry]});
      });
    }
    const std::int64_t begin = std::max(time_of(earlier), moved(std::move(outs), away));
    const std::int64_t rest = std::max(time_of(later_nodes), moved(std::move(ins), away));
    return std::min(begin + problem_.time[milestone] + rest, kMaxTime);
  }

 private:
  // From the runs without readers to their inputs. An entry that nothing reads may be all that is needed of a run.
  void find_tails() {
    tails_.assign(problem_.count(), kForever);
    std::vector<std::size_t> left(problem_.count(), 0);  // by run: readers of its entries
    std::vector<Index> open;
    for (Index node = 0; node < problem_.count(); ++node) {
      if (!problem_.is_run(node)) continue;
      problem_.for_each_entry(node, [&](Index entry) { left[node] += problem_.readers(entry).size(); });
      if (left[node] == 0) open.push_back(node);
    }
    while (!open.empty()) {
      const Index node = open.back();
      open.pop_back();
      std::int64_t rest = kForever;
      problem_.for_each_entry(node, [&](Index entry) {
        if (problem_.readers(entry).empty()) tails_[entry] = 0;
        rest = std::min(rest, tails_[entry]);
      });
      for (Index input : problem_.inputs(node)) {
        tails_[input] = std::min(tails_[input], problem_.time[node] + rest);
        if (--left[problem_.owner(input)] == 0) open.push_back(problem_.owner(input));
      }
    }
  }

  [[nodiscard]] Flags<Index> before(Index node) const {
    return reached(node, problem_.count(), [&](Index other, auto reach) {
      for (Index input : problem_.inputs(other)) reach(problem_.owner(input));
    });
  }

  [[nodiscard]] Flags<Index> after(Index node) const {
    return reached(node, problem_.count(), [&](Index other, auto reach) {
      problem_.for_each_entry(other, [&](Index entry) {
        for (Index reader : problem_.readers(entry)) reach(reader);
      });
    });
  }

  [[nodiscard]] std::int64_t time_of(const Flags<Index>& nodes) const {
    std::int64_t sum = 0;
    for (Index node = 0; node < problem_.count(); ++node) sum += nodes.test(node) ? problem_.time[node] : 0;
    return sum;
  }

  // A link that moves the earliest bytes first, without gaps. kMaxTime if there are fewer bytes. Rounded down.
  [[nodiscard]] std::int64_t moved(std::vector<Ready> ready, std::int64_t away) const {
    std::sort(ready.begin(), ready.end(), [](const Ready& a, const Ready& b) { return a.time < b.time; });
    const Int128 per_second = 1'000'000'000;
    Int128 now = 0;  // in units of 1 / bytes_per_second nanoseconds, in which a byte takes per_second units
    for (const Ready& next : ready) {
      if (away <= 0) break;
      const std::int64_t taken = std::min(next.bytes, away);
      now = std::max(now, Int128{next.time} * link_.bytes_per_second) + taken * per_second;
      away -= taken;
    }
    if (away > 0) return kMaxTime;
    return static_cast<std::int64_t>(
        std::min(now / link_.bytes_per_second + link_.latency_nanoseconds, Int128{kMaxTime}));
  }

  const SwapProblem& problem_;
  const TransferLink& link_;
  std::vector<std::int64_t> heads_;  // by run: one of it and of all that must run before
  std::vector<std::int64_t> tails_;  // by entry: the fastest chain of readers to one without readers
};

}  // namespace
}  // namespace budget_internal

std::int64_t least_time_away(const BudgetProblem& problem, const TransferLink& link, const CostProof& proof,
                             Bytes away) {
  const budget_internal::SwapProblem swaps(problem, link);
  const budget_internal::AwaySearch search(swaps, link);
  const bool with_aside = search.counts_aside(proof);
  std::int64_t least = kMaxTime;
  for (NodeId milestone : proof.milestones) {
    least = std::min(least, search.least(milestone.value(), away.count(), with_aside));
  }
  return least;
}

}  // namespace lowtide
