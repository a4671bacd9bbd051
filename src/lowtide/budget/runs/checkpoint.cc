// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/budget/runs/rerun_limits.h"

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::size_t kMostSegments = 32;
constexpr std::int64_t kSequenceWork = 40;  // per node, also of the scan that follows

}  // namespace

// Where segments begin, ascending. The first begins at 0.
using Segments = std::vector<std::size_t>;

// Segments of the runs before a turn.
class Segmentation {
 public:
  Segmentation(const RunProblem& problem, const Runs& order, const std::vector<std::uint32_t>& position,
               std::size_t turn)
      : bytes_(turn + 1, 0), cut_(turn + 1, 0) {
    // An entry crosses each place between its run and the last reader before the turn.
    std::vector<std::int64_t> change(turn + 2, 0);
    for (std::size_t at = 0; at < turn; ++at) {
      bytes_[at + 1] = bytes_[at];
      problem.for_each_entry(order[at], [&](Index entry) {
        bytes_[at + 1] += problem.size[entry];
        std::size_t last = at;
        for (Index reader : problem.readers(entry)) {
          if (position[reader] < turn) last = std::max<std::size_t>(last, position[reader]);
        }
        change[at + 1] += problem.size[entry];
        change[last + 1] -= problem.size[entry];
      });
    }
    std::int64_t crossing = 0;
    for (std::size_t at = 0; at <= turn; ++at) cut_[at] = crossing += change[at];
  }

  struct Way {
    std::size_t count;
    bool by_bytes;
    bool at_narrow;
  };
  [[nodiscard]] Segments divide(const Way& way) const {
    const std::size_t turn = bytes_.size() - 1;
    const std::size_t length = (turn + way.count - 1) / way.count;
    Segments begins = {0};
    for (std::size_t segment = 1; segment < way.count; ++segment) {
      std::size_t at = segment * length;
      if (way.by_bytes) {
        const double share = static_cast<double>(segment) / static_cast<double>(way.count);
        const auto bytes = static_cast<std::int64_t>(static_cast<double>(bytes_.back()) * share);
        at = static_cast<std::size_t>(std::lower_bound(bytes_.begin(), bytes_.end(), bytes) - bytes_.begin());
      }
      if (way.at_narrow) at = narrowest_near(std::min(at, turn), length / 2);
      if (at > begins.back() && at < turn) begins.push_back(at);
    }
    return begins;
  }

 private:
  [[nodiscard]] std::size_t narrowest_near(std::size_t at, std::size_t reach) const {
    std::size_t best = at;
    for (std::size_t away = 0; away <= reach; ++away) {
      if (at + away < cut_.size() && cut_[at + away] < cut_[best]) best = at + away;
      if (away < at && cut_[at - away] < cut_[best]) best = at - away;
    }
    return best;
  }

  std::vector<std::int64_t> bytes_;  // by place: made before it
  std::vector<std::int64_t> cut_;    // by place: made before it, and read from it on before the turn
};

// Writes the sequence of one segmentation.
class Checkpointing {
 public:
  Checkpointing(const RunProblem& problem, const Runs& order)
      : problem_(problem), order_(order), position_(positions_in(problem, order)) {
    if (!problem.is_free()) limits_.emplace(problem, position_, true);
  }

  [[nodiscard]] const std::vector<std::uint32_t>& position() const { return position_; }

  Runs sequence(Segments begins, std::size_t turn) {
    begins_ = std::move(begins);
    turn_ = turn;
    mark_needed();
    std::vector<char> is_restored(begins_.size(), 0);
    is_restored.back() = 1;
    Runs runs(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(turn));
    for (std::size_t at = turn; at < order_.size(); ++at) {
      for (Index input : problem_.inputs(order_[at])) {
        const std::size_t made = position_[problem_.owner(input)];
        if (made >= turn || is_needed_[input] == 0) continue;
        const std::size_t segment = segment_of(made);
        if (is_restored[segment] != 0) continue;
        is_restored[segment] = 1;
        restore(segment, at, runs);
      }
      runs.push_back(order_[at]);
    }
    return runs;
  }

 private:
  [[nodiscard]] std::size_t segment_of(std::size_t at) const {
    return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), at) - begins_.begin()) - 1;
  }

  // Marks what is read after the turn, or by reruns of its own segment, and is dropped before.
  void mark_needed() {
    is_needed_.assign(problem_.count(), 0);
    for (std::size_t at = turn_; at-- > 0;) {
      bool is_rerun = false;
      problem_.for_each_entry(order_[at], [&](Index entry) {
        bool is_read = is_needed_[entry] != 0;
        bool stays = problem_.is_output[entry] != 0;
        for (Index reader : problem_.readers(entry)) {
          is_read = is_read || position_[reader] >= turn_;
          stays = stays || (position_[reader] < turn_ && segment_of(position_[reader]) != segment_of(at));
        }
        is_needed_[entry] = is_read && !stays ? 1 : 0;
        is_rerun = is_rerun || is_needed_[entry] != 0;
      });
      if (!is_rerun) continue;
      for (Index input : problem_.inputs(order_[at])) {
        if (segment_of(position_[problem_.owner(input)]) == segment_of(at)) is_needed_[input] = 1;
      }
    }
  }

  // Runs again what a segment has dropped.
  void restore(std::size_t segment, std::size_t now, Runs& runs) const {
    const std::size_t end = segment + 1 < begins_.size() ? begins_[segment + 1] : turn_;
    for (std::size_t at = begins_[segment]; at < end; ++at) {
      const Index node = order_[at];
      bool is_needed = !limits_ || limits_->may_run(node, static_cast<std::uint32_t>(now));
      if (!is_needed) continue;
      is_needed = false;
      problem_.for_each_entry(node, [&](Index entry) { is_needed = is_needed || is_needed_[entry] != 0; });
      if (is_needed) runs.push_back(node);
    }
  }

  const RunProblem& problem_;
  const Runs& order_;
  std::vector<std::uint32_t> position_;
  std::optional<RerunLimits> limits_;  // absent if every node may run at any time
  Segments begins_;
  std::size_t turn_ = 0;
  std::vector<char> is_needed_;  // by entry
};

namespace {

// The run with the most live bytes, and the one before which most of them stay live across it.
std::vector<std::size_t> turns_of(const RunProblem& problem, const Runs& order) {
  std::vector<std::int64_t> loads;
  const Loads scanned = LoadScan(problem).scan(order, &loads);
  std::size_t widest = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    loads[at] -= problem.own_load[order[at]];
    if (loads[at] > loads[widest]) widest = at;
  }
  if (widest == scanned.peak_at) return {widest};
  return {scanned.peak_at, widest};
}

}  // namespace

class CheckpointSequences::State {
 public:
  State(const RunProblem& problem, const Runs& order) : checkpointing_(problem, order), length_(order.size()) {
    turns_ = turns_of(problem, order);
    for (std::size_t turn : turns_) segmentations_.emplace_back(problem, order, checkpointing_.position(), turn);
    const auto root =
        std::max<std::size_t>(static_cast<std::size_t>(std::sqrt(static_cast<double>(order.size()) / 2)), 2);
    for (std::size_t at = 0; at < turns_.size(); ++at) add_ways(at, root);
    for (std::size_t count = 2; count <= kMostSegments; ++count) {
      for (std::size_t at = 0; at < turns_.size(); ++at) add_ways(at, count);
    }
  }

  std::optional<Runs> next(std::int64_t& work) {
    while (next_ < ways_.size()) {
      const auto& [at, way] = ways_[next_++];
      Segments begins = segmentations_[at].divide(way);
      work -= 2 * static_cast<std::int64_t>(way.count) * (way.at_narrow ? 10 : 1);
      if (begins.size() < 2) continue;
      work -= kSequenceWork * static_cast<std::int64_t>(length_);
      return checkpointing_.sequence(std::move(begins), turns_[at]);
    }
    return std::nullopt;
  }

 private:
  void add_ways(std::size_t at, std::size_t count) {
    for (bool by_bytes : {false, true}) {
      for (bool at_narrow : {true, false}) ways_.push_back({at, {count, by_bytes, at_narrow}});
    }
  }

  Checkpointing checkpointing_;
  std::size_t length_;
  std::vector<std::size_t> turns_;
  std::vector<Segmentation> segmentations_;                      // by turn
  std::vector<std::pair<std::size_t, Segmentation::Way>> ways_;  // turn and way
  std::size_t next_ = 0;
};

CheckpointSequences::CheckpointSequences(const RunProblem& problem, const Runs& order)
    : state_(std::make_unique<State>(problem, order)) {}
CheckpointSequences::~CheckpointSequences() = default;
std::optional<Runs> CheckpointSequences::next(std::int64_t& work) { return state_->next(work); }

}  // namespace lowtide::budget_internal
