// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/second_goal.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/schedule/order_line.h"
#include "lowtide/schedule/order_problem.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

using detail::OrderLine;
using Index = OrderProblem::Index;

constexpr std::int64_t kNoValue = std::numeric_limits<std::int64_t>::max();

// Runs of neighbours that move as one.
constexpr std::array<std::size_t, 9> kRunLengths = {1, 2, 3, 4, 6, 8, 12, 16, 24};

// A node one step later costs so many bytes more: each read is farther away, each reader of a result nearer. Nothing:
// too many bytes to add up.
std::optional<std::vector<std::int64_t>> pulls_of(const Graph& graph) {
  std::vector<std::int64_t> pull(graph.nodes().size(), 0);
  std::optional<std::int64_t> sum = 0;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    for (TensorId tensor : graph.reads(id)) {
      const std::optional<NodeId> producer = graph.tensor(tensor).producer;
      if (!producer) continue;
      const std::int64_t bytes = graph.tensor(tensor).size.count();
      sum = sum ? checked_add(*sum, bytes) : std::nullopt;
      if (!sum) return std::nullopt;
      pull[id.index()] += bytes;
      pull[producer->index()] -= bytes;
    }
  }
  // No distance is longer than the order, and no step of a move adds more than the sum.
  return checked_multiply(*sum, static_cast<std::int64_t>(graph.nodes().size()) + 2) ? std::optional(std::move(pull))
                                                                                     : std::nullopt;
}

// Pairs out of order, by merging halves.
std::int64_t inversions(std::vector<std::uint32_t> order) {
  std::int64_t count = 0;
  std::vector<std::uint32_t> merged(order.size());
  for (std::size_t width = 1; width < order.size(); width *= 2) {
    for (std::size_t begin = 0; begin < order.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, order.size());
      const std::size_t end = std::min(begin + 2 * width, order.size());
      std::size_t a = begin;
      std::size_t b = middle;
      for (std::size_t at = begin; at < end; ++at) {
        const bool takes_second = a == middle || (b < end && order[b] < order[a]);
        if (takes_second) count += static_cast<std::int64_t>(middle - a);
        merged[at] = takes_second ? order[b++] : order[a++];
      }
    }
    order.swap(merged);
  }
  return count;
}

// One order that is on its way, and what its moves do to the goal.
class Mover {
 public:
  Mover(SecondGoal goal, const OrderProblem& problem, std::vector<std::int64_t> pull, std::vector<Index> order)
      : goal_(goal), pull_(std::move(pull)), line_(problem, std::move(order)), most_(line_.peak()) {}

  [[nodiscard]] const std::vector<Index>& order() const { return line_.order(); }
  [[nodiscard]] std::int64_t work() const { return line_.work() + exchanges_; }

  // Moves the run that begins at a step to the best place in one direction. Whether that helped.
  bool move(std::size_t begin, std::size_t length, bool is_earlier) {
    const std::size_t room = is_earlier ? begin : line_.order().size() - begin - length;
    std::int64_t change = 0;
    std::int64_t best = 0;
    std::size_t best_way = 0;
    std::size_t way = 0;
    while (way < room) {
      const std::size_t at = is_earlier ? begin - way : begin + way;
      if (!may_pass(at, length, is_earlier)) break;
      change += pass(at, length, is_earlier);
      ++way;
      // The node that was passed stays where it is now.
      const std::size_t passed = is_earlier ? at + length - 1 : at;
      if (line_.load(passed) > most_) break;
      if (change < best && fits(is_earlier ? at - 1 : at + 1, length)) {
        best = change;
        best_way = way;
      }
    }
    for (; way > best_way; --way) (void)pass(is_earlier ? begin - way : begin + way, length, !is_earlier);
    return best_way > 0;
  }

 private:
  [[nodiscard]] bool fits(std::size_t begin, std::size_t length) const {
    for (std::size_t at = begin; at < begin + length; ++at) {
      if (line_.load(at) > most_) return false;
    }
    return true;
  }

  // The node beside the run has no edge to any of it.
  [[nodiscard]] bool may_pass(std::size_t begin, std::size_t length, bool is_earlier) {
    ++exchanges_;
    if (length == 1) return line_.may_exchange(is_earlier ? begin - 1 : begin);
    const std::vector<Index>& order = line_.order();
    const Index beside = is_earlier ? order[begin - 1] : order[begin + length];
    for (std::size_t at = begin; at < begin + length; ++at) {
      if (is_earlier ? line_.comes_after(order[at], beside) : line_.comes_after(beside, order[at])) return false;
    }
    return true;
  }

  // The node beside the run goes to its other end, neighbour by neighbour.
  std::int64_t pass(std::size_t begin, std::size_t length, bool is_earlier) {
    std::int64_t change = 0;
    for (std::size_t done = 0; done < length; ++done) {
      change += exchange(is_earlier ? begin - 1 + done : begin + length - 1 - done);
    }
    return change;
  }

  std::int64_t exchange(std::size_t step) {
    ++exchanges_;
    const Index ahead = line_.order()[step];
    const Index behind = line_.order()[step + 1];
    const std::int64_t before = line_.load(step) + line_.load(step + 1);
    line_.exchange(step);
    switch (goal_) {
      case SecondGoal::bytes_time:
        return line_.load(step) + line_.load(step + 1) - before;
      case SecondGoal::locality:
        return pull_[ahead] - pull_[behind];
      case SecondGoal::nearness:
        break;
    }
    return ahead < behind ? 1 : -1;
  }

  SecondGoal goal_;
  std::vector<std::int64_t> pull_;
  OrderLine line_;
  std::int64_t most_;
  std::int64_t exchanges_ = 0;
};

std::vector<Index> indices_of(const std::vector<NodeId>& order) {
  std::vector<Index> indices;
  indices.reserve(order.size());
  for (NodeId id : order) indices.push_back(id.value());
  return indices;
}

// Whether slices and concats share is decided anew for each order. The moves need one answer: the one that comes
// nearest to what was measured for the start.
OrderProblem nearest_problem(const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options,
                             const MeasuredOrder& start) {
  OrderProblem best = order_problem(graph, kernels, options, Sharing::nothing);
  const auto distance = [&](const OrderProblem& one) {
    return std::abs(peak_of(one, indices_of(start.order)) - start.load.count());
  };
  OrderProblem other = order_problem(graph, kernels, options, Sharing::everything);
  return distance(other) < distance(best) ? other : best;
}

class Improvement {
 public:
  Improvement(SecondGoal goal, const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options,
              MeasuredOrder start)
      : goal_(goal), graph_(graph), kernels_(kernels), options_(options), best_(std::move(start)) {}

  MeasuredOrder run(std::int64_t effort) && {
    std::optional<std::vector<std::int64_t>> pull = pulls_of(graph_);
    if (!pull || best_.value == kNoValue || best_.value == 0 || graph_.nodes().size() < 2) return std::move(best_);
    const OrderProblem problem = nearest_problem(graph_, kernels_, options_, best_);
    Mover mover(goal_, problem, *std::move(pull), indices_of(best_.order));
    // Measuring costs about as much as looking at all values some times, so it is done after twenty times that work.
    const std::int64_t between = 20 * mover.work();
    std::int64_t next = mover.work() + between;
    const std::int64_t end = mover.work() + effort;
    for (bool has_moved = true; has_moved;) {
      has_moved = false;
      for (std::size_t length : kRunLengths) {
        for (std::size_t begin = 0; begin + length <= graph_.nodes().size(); ++begin) {
          // Only what was reached with less effort too may be measured before the end.
          if (mover.work() >= end) return std::move(best_);
          has_moved = mover.move(begin, length, true) || has_moved;
          has_moved = mover.move(begin, length, false) || has_moved;
          if (mover.work() < next) continue;
          next = mover.work() + between;
          if (!measure(mover.order())) return std::move(best_);
        }
      }
    }
    (void)measure(mover.order());
    return std::move(best_);
  }

 private:
  // False: the load is above what it was, so the way leads astray.
  bool measure(const std::vector<Index>& indices) {
    MeasuredOrder next;
    for (Index index : indices) next.order.emplace_back(index);
    next.aliases = alias_classes(graph_, kernels_, next.order, options_);
    const std::vector<Bytes> profile = load_profile(next.aliases, kernels_, next.order, options_);
    next.load = largest(profile);
    if (next.load > best_.load) return false;
    next.value = value_of(goal_, graph_, next.order, profile);
    if (next.load < best_.load || next.value < best_.value) best_ = std::move(next);
    return true;
  }

  SecondGoal goal_;
  const Graph& graph_;
  const ChosenKernels& kernels_;
  const AliasOptions& options_;
  MeasuredOrder best_;
};

}  // namespace

const std::vector<std::string>& second_goals() {
  static const std::vector<std::string> names = {"bytes_time", "locality", "nearness"};
  return names;
}

std::string_view to_string(SecondGoal goal) { return second_goals()[static_cast<std::size_t>(goal)]; }

std::optional<SecondGoal> second_goal_named(std::string_view name) {
  const auto found = std::find(second_goals().begin(), second_goals().end(), name);
  if (found == second_goals().end()) return std::nullopt;
  return static_cast<SecondGoal>(found - second_goals().begin());
}

std::int64_t value_of(SecondGoal goal, const Graph& graph, const std::vector<NodeId>& order,
                      const std::vector<Bytes>& profile) {
  if (goal == SecondGoal::nearness) return inversions(indices_of(order));
  std::int64_t sum = 0;
  if (goal == SecondGoal::bytes_time) {
    for (Bytes load : profile) sum = checked_add(sum, load.count()).value_or(kNoValue);
    return sum;
  }
  const std::optional<std::vector<std::int64_t>> pull = pulls_of(graph);
  if (!pull) return kNoValue;
  for (std::size_t step = 0; step < order.size(); ++step) {
    sum += (*pull)[order[step].index()] * static_cast<std::int64_t>(step);
  }
  return sum;
}

MeasuredOrder improve(SecondGoal goal, const Graph& graph, const ChosenKernels& kernels, const AliasOptions& options,
                      MeasuredOrder start, std::int64_t effort) {
  return Improvement(goal, graph, kernels, options, std::move(start)).run(effort);
}

}  // namespace lowtide
