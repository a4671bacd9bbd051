// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/runs/retain.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "lowtide/rematerialize/runs/pruned_scan.h"

namespace lowtide::rematerialize_internal {
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

std::vector<Rerun> reruns_of(const RunProblem& problem, const ScannedRuns& scanned) {
  constexpr std::uint32_t kNever = 0xFFFFFFFF;
  std::vector<std::uint32_t> latest(problem.count(), kNever);
  std::vector<Rerun> reruns;
  for (std::uint32_t at = 0; at < scanned.runs.size(); ++at) {
    const Index node = scanned.runs[at];
    if (latest[node] != kNever) {
      const double bytes = static_cast<double>(problem.size[node] + 1) * (at - scanned.last_use[latest[node]]);
      reruns.push_back({static_cast<double>(problem.cost[node]) / bytes, at, latest[node]});
    }
    latest[node] = at;
  }
  std::sort(reruns.begin(), reruns.end(),
            [](const Rerun& a, const Rerun& b) { return std::tuple(-a.gain, a.at) < std::tuple(-b.gain, b.at); });
  return reruns;
}

// The sequence without the reruns for whose outputs there is space.
Runs without_reruns(const RunProblem& problem, const ScannedRuns& scanned, std::int64_t& work) {
  RangeMaximum loads(scanned.loads);
  std::vector<char> is_removed(scanned.runs.size(), 0);
  for (const Rerun& rerun : reruns_of(problem, scanned)) {
    work -= kStepWork;
    if (work < 0) break;
    const std::int64_t size = problem.size[scanned.runs[rerun.at]];
    // The output is live at its last use, and where it ran again.
    const std::uint32_t begin = scanned.last_use[rerun.previous] + 1;
    if (loads.most(begin, rerun.at) + size > problem.budget) continue;
    loads.add(begin, rerun.at, size);
    is_removed[rerun.at] = 1;
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

}  // namespace lowtide::rematerialize_internal
