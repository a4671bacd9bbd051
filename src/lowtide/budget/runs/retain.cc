// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/retain.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "lowtide/budget/runs/pruned_scan.h"

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::int64_t kStepWork = 100;  // of a walk through the tree

// Values at positions: the maximum of a range, and additions to a range, in O(log positions). A vertex has the maximum
// of its positions, and what is still to be added below it.
class RangeMaximum {
 public:
  explicit RangeMaximum(const std::vector<std::int64_t>& values)
      : leaves_(std::bit_ceil(values.size() + 1)), most_(2 * leaves_, 0), added_(leaves_, 0) {
    std::copy(values.begin(), values.end(), most_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t at = leaves_; at-- > 1;) most_[at] = std::max(most_[2 * at], most_[2 * at + 1]);
  }

  // The maximum of [begin, end); 0 if that is empty. Requires: no value is negative.
  std::int64_t most(std::size_t begin, std::size_t end) {
    if (begin >= end) return 0;
    push_down(begin);
    push_down(end - 1);
    std::int64_t most = 0;
    for (begin += leaves_, end += leaves_; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1) most = std::max(most, most_[begin++]);
      if (end % 2 == 1) most = std::max(most, most_[--end]);
    }
    return most;
  }

  void add(std::size_t begin, std::size_t end, std::int64_t value) {
    if (begin >= end) return;
    push_down(begin);
    push_down(end - 1);
    std::size_t left = begin + leaves_;
    std::size_t right = end + leaves_;
    for (; left < right; left /= 2, right /= 2) {
      if (left % 2 == 1) add_at(left++, value);
      if (right % 2 == 1) add_at(--right, value);
    }
    pull_up(begin);
    pull_up(end - 1);
  }

 private:
  void add_at(std::size_t vertex, std::int64_t value) {
    most_[vertex] += value;
    if (vertex < leaves_) added_[vertex] += value;
  }
  void push_down(std::size_t position) {
    const std::size_t leaf = position + leaves_;
    for (int depth = static_cast<int>(std::bit_width(leaves_)) - 1; depth > 0; --depth) {
      const std::size_t vertex = leaf >> static_cast<unsigned>(depth);
      if (added_[vertex] == 0) continue;
      add_at(2 * vertex, added_[vertex]);
      add_at(2 * vertex + 1, added_[vertex]);
      added_[vertex] = 0;
    }
  }
  void pull_up(std::size_t position) {
    for (std::size_t at = (position + leaves_) / 2; at > 0; at /= 2) {
      most_[at] = std::max(most_[2 * at], most_[2 * at + 1]) + added_[at];
    }
  }

  std::size_t leaves_;
  std::vector<std::int64_t> most_;
  std::vector<std::int64_t> added_;
};

// A rerun, and the run before it of the same node.
struct Rerun {
  double gain;  // per byte and run
  std::uint32_t at;
  std::uint32_t previous;
};

// Reruns that may go. Without one, its last uses are those of the run before it. Bytes that are written over in between
// must be made again, and the runs of groups are agreed.
std::vector<Rerun> reruns_of(const RunProblem& problem, const ScannedRuns& scanned) {
  constexpr std::uint32_t kNever = 0xFFFFFFFF;
  std::vector<std::uint32_t> latest(problem.count(), kNever);
  std::vector<Rerun> reruns;
  for (std::uint32_t at = 0; at < scanned.runs.size(); ++at) {
    const Index node = scanned.runs[at];
    const std::uint32_t previous = std::exchange(latest[node], at);
    if (previous == kNever || problem.group_of(node) != RunProblem::kNone) continue;
    double bytes = 0;
    bool may_go = true;
    problem.for_each_entry(node, [&](Index entry) {
      may_go = may_go && problem.overwriter_of(entry) == RunProblem::kNone;
      const std::uint32_t use = scanned.last_use_of(previous, problem.slot(entry));
      if (entry != node && scanned.last_use_of(at, problem.slot(entry)) == at) return;
      bytes += static_cast<double>(problem.size[entry] + (entry == node ? 1 : 0)) * (at - use);
    });
    if (may_go) reruns.push_back({static_cast<double>(problem.cost[node]) / bytes, at, previous});
  }
  std::sort(reruns.begin(), reruns.end(),
            [](const Rerun& a, const Rerun& b) { return std::tuple(-a.gain, a.at) < std::tuple(-b.gain, b.at); });
  return reruns;
}

// Lets the outputs of the run before a rerun live up to it. Returns false, and changes nothing, if there is no space.
bool hold_outputs(const RunProblem& problem, const ScannedRuns& scanned, const Rerun& rerun, RangeMaximum& loads) {
  const Index node = scanned.runs[rerun.at];
  std::vector<std::pair<std::uint32_t, std::int64_t>> held;  // from where on, and bytes
  bool fits = true;
  problem.for_each_entry(node, [&](Index entry) {
    // An output is live at its last use, and where it ran again.
    const std::uint32_t begin = scanned.last_use_of(rerun.previous, problem.slot(entry)) + 1;
    const bool is_unused = scanned.last_use_of(rerun.at, problem.slot(entry)) == rerun.at;
    const bool is_alone = problem.parts(node).empty();
    if (!fits || (is_unused && !is_alone)) return;
    fits = loads.most(begin, rerun.at) + problem.size[entry] <= problem.budget;
    if (!fits) return;
    loads.add(begin, rerun.at, problem.size[entry]);
    held.emplace_back(begin, problem.size[entry]);
  });
  if (fits) return true;
  for (const auto& [begin, bytes] : held) loads.add(begin, rerun.at, -bytes);
  return false;
}

// The sequence without the reruns for whose outputs there is space.
Runs without_reruns(const RunProblem& problem, const ScannedRuns& scanned, std::int64_t& work) {
  RangeMaximum loads(scanned.loads);
  std::vector<char> is_removed(scanned.runs.size(), 0);
  for (const Rerun& rerun : reruns_of(problem, scanned)) {
    work -= kStepWork;
    if (work < 0) break;
    if (hold_outputs(problem, scanned, rerun, loads)) is_removed[rerun.at] = 1;
  }
  Runs runs;
  for (std::size_t at = 0; at < scanned.runs.size(); ++at) {
    if (is_removed[at] == 0) runs.push_back(scanned.runs[at]);
  }
  return runs;
}

}  // namespace

Runs retain_outputs(const RunProblem& problem, const Runs& runs, std::int64_t& work) {
  PrunedScan scan(problem);
  ScannedRuns now;
  ScannedRuns next;
  if (!scan.scan(runs, now) || now.peak > problem.budget) return runs;
  while (work > 0) {
    const std::int64_t begin = scan.work();
    const bool is_valid = scan.scan(without_reruns(problem, now, work), next);
    work -= 2 * (scan.work() - begin) + static_cast<std::int64_t>(20 * now.runs.size());
    if (!is_valid || next.peak > problem.budget || next.runs.size() == now.runs.size()) break;
    std::swap(now, next);
  }
  return now.runs;
}

}  // namespace lowtide::budget_internal
