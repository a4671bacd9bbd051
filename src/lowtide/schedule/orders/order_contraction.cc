// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/order_contraction.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lowtide::schedule_internal {
namespace {

using Index = OrderProblem::Index;
using Node = OrderProblem::Node;

constexpr std::size_t kMostUnknown = 6;  // values of which all combinations are tried
constexpr std::size_t kMostSteps = 64;   // of a node that is joined to another, because all of them are looked at again
constexpr std::size_t kMostUses = 4096;  // of values by a node that others are joined to
constexpr std::int64_t kLooksPerEntry = 500;
constexpr std::size_t kMoved = 16;  // moving this many indices in a list counts as one look

// The number of nodes, edges and touched values.
std::int64_t entries_of(const OrderProblem& problem) {
  auto entries = static_cast<std::int64_t>(problem.nodes.size() + problem.values.size());
  for (const Node& node : problem.nodes) {
    entries += static_cast<std::int64_t>(node.before.size());
    for (const OrderProblem::Step& step : node.steps) entries += static_cast<std::int64_t>(step.values.size());
  }
  return entries;
}

// Replaces an entry of a sorted list without duplicates.
void rename(std::vector<Index>& list, Index from, Index to) {
  list.erase(std::lower_bound(list.begin(), list.end(), from));
  const auto place = std::lower_bound(list.begin(), list.end(), to);
  if (place == list.end() || *place != to) list.insert(place, to);
}

class Contraction {
 public:
  // `looks`: how many looks at entries are left. At 0, no more nodes are joined.
  Contraction(const OrderProblem& problem, std::int64_t tolerance, std::int64_t& looks)
      : problem_(problem),
        tolerance_(tolerance),
        looks_(looks),
        after_(problem.nodes.size()),
        uses_(problem.nodes.size(), 0),
        unused_(problem.values.size(), 0),
        seen_by_(problem.values.size(), 0) {
    looks_ -= entries_of(problem);
    for (Index node = 0; node < problem_.nodes.size(); ++node) {
      for (Index before : problem_.nodes[node].before) after_[before].push_back(node);
    }
    users_.resize(problem.values.size());
    for (Index node = 0; node < problem_.nodes.size(); ++node) add_user(node);
  }

  // Looks at nodes in topological order, so that a node is complete before it is joined itself. When two nodes are
  // joined, a node that only these two waited for has one successor left, but the round has already passed it. So
  // rounds repeat until nothing is joined.
  OrderProblem run() && {
    for (bool has_joined = true; has_joined && looks_ > 0;) {
      has_joined = false;
      looks_ -= static_cast<std::int64_t>(problem_.nodes.size());
      for (Index node = 0; node < problem_.nodes.size(); ++node) {
        if (after_[node].size() == 1) has_joined = try_join(node, after_[node][0]) || has_joined;
      }
    }
    return renumbered();
  }

 private:
  struct Touch {
    std::vector<Index> values;   // of a node, each once
    std::vector<Index> dying;    // values that live before it and die with it in every order
    std::vector<Index> unknown;  // values that live before it and die with it in some orders
    std::int64_t born = 0;       // bytes that begin with it in every order and are live when `b` starts
    std::int64_t may_die = 0;    // bytes that may die with it
  };

  void add_user(Index node) {
    for (const OrderProblem::Step& step : problem_.nodes[node].steps) {
      uses_[node] += step.values.size();
      for (Index value : step.values) {
        if (users_[value].empty() || users_[value].back() != node) users_[value].push_back(node);
      }
    }
  }

  [[nodiscard]] static std::vector<Index> values_of(const Node& node) {
    std::vector<Index> values;
    for (const OrderProblem::Step& step : node.steps)
      values.insert(values.end(), step.values.begin(), step.values.end());
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  [[nodiscard]] bool only_used_by(Index value, Index a, Index b) const {
    const std::vector<Index>& users = users_[value];
    return users.size() <= 2 &&
           std::all_of(users.begin(), users.end(), [&](Index user) { return user == a || user == b; });
  }
  [[nodiscard]] bool is_used_by(Index value, Index node) const {
    return std::binary_search(users_[value].begin(), users_[value].end(), node);
  }

  // Whether the value is live before the node in every order: it exists from the start, or a node before touches it.
  [[nodiscard]] bool lives_before(Index value, Index node) const {
    if (problem_.values[value].is_there_first) return true;
    const std::vector<Index>* few = &users_[value];
    const std::vector<Index>* many = &problem_.nodes[node].before;
    if (many->size() < few->size()) std::swap(few, many);
    looks_ -= static_cast<std::int64_t>(few->size());
    return std::any_of(few->begin(), few->end(),
                       [&](Index one) { return std::binary_search(many->begin(), many->end(), one); });
  }

  // Returns false if it is unknown for some value whether it begins with `a`.
  [[nodiscard]] bool look(Index a, Index b, Touch& touch) const {
    touch.values = values_of(problem_.nodes[a]);
    for (Index value : touch.values) {
      const OrderProblem::Value& one = problem_.values[value];
      if (!lives_before(value, a)) {
        if (!only_used_by(value, a, b)) return false;
        if (is_used_by(value, b) || one.is_kept) touch.born += one.size;
      } else if (!one.is_kept && !is_used_by(value, b)) {
        touch.may_die += one.size;
        (ends_with(value, a) ? touch.dying : touch.unknown).push_back(value);
      }
    }
    return true;
  }

  // How far the largest load of `a` exceeds the live bytes after it, if the unknown values in `dies` die with it. Here
  // unused_ counts only the uses by `a`.
  [[nodiscard]] std::int64_t overhang(Index a, Index b, const Touch& touch, std::uint32_t dies) {
    for (const OrderProblem::Step& step : problem_.nodes[a].steps) {
      for (Index value : step.values) ++unused_[value];
    }
    std::vector<Index> dying = touch.dying;
    for (std::size_t at = 0; at < touch.unknown.size(); ++at) {
      if ((dies >> at & 1U) != 0) dying.push_back(touch.unknown[at]);
    }
    std::sort(dying.begin(), dying.end());
    const auto may_die = [&](Index value) {
      if (problem_.values[value].is_kept || is_used_by(value, b)) return false;
      return !lives_before(value, a) || std::binary_search(dying.begin(), dying.end(), value);
    };
    ++looking_;
    const auto is_new = [&](Index value) { return seen_by_[value] != looking_ && !lives_before(value, a); };
    std::int64_t live = 0;
    std::int64_t most = 0;
    for (const OrderProblem::Step& step : problem_.nodes[a].steps) {
      std::int64_t load = live + step.scratch;
      std::int64_t saved_dying = 0;
      std::int64_t saved_born = 0;
      for (Index value : step.values) load += is_new(value) ? problem_.values[value].size : 0;
      for (Index value : step.dying) {
        saved_dying += unused_[value] == 1 && may_die(value) ? problem_.values[value].size : 0;
      }
      for (Index value : step.born) saved_born += is_new(value) ? problem_.values[value].size : 0;
      if (step.counts) most = std::max(most, load - std::min(saved_dying, saved_born));
      for (Index value : step.values) {
        if (is_new(value)) live += problem_.values[value].size;
        if (--unused_[value] == 0 && may_die(value)) live -= problem_.values[value].size;
      }
      for (Index value : step.values) seen_by_[value] = looking_;
    }
    return most - live;
  }

  // A lower bound of how much the largest load of `b` exceeds the live bytes before it.
  [[nodiscard]] std::int64_t rise(Index b) {
    std::int64_t live = 0;
    std::int64_t most = 0;
    ++looking_;
    looks_ -= static_cast<std::int64_t>(uses_[b]);
    for (const OrderProblem::Step& step : problem_.nodes[b].steps) {
      std::int64_t dying = 0;
      std::int64_t born = 0;
      std::int64_t fresh = 0;
      for (Index value : step.dying) dying += problem_.values[value].size;
      for (Index value : step.born) born += problem_.values[value].size;
      for (Index value : step.values) {
        if (seen_by_[value] == looking_) continue;
        fresh += begins_with(value, b) ? problem_.values[value].size : 0;
      }
      if (step.counts) most = std::max(most, live + step.scratch + fresh - std::min(dying, born));
      live += fresh;
      for (Index value : step.values) live -= problem_.values[value].is_kept ? 0 : problem_.values[value].size;
      for (Index value : step.values) seen_by_[value] = looking_;
    }
    return most;
  }

  // Whether all other nodes that touch the value come before the node.
  [[nodiscard]] bool ends_with(Index value, Index node) const {
    const std::vector<Index>& before = problem_.nodes[node].before;
    if (users_[value].size() > before.size() + 1) return false;
    looks_ -= static_cast<std::int64_t>(users_[value].size());
    return std::all_of(users_[value].begin(), users_[value].end(), [&](Index user) {
      return user == node || std::binary_search(before.begin(), before.end(), user);
    });
  }

  // Whether all other nodes that touch the value come after the node.
  [[nodiscard]] bool begins_with(Index value, Index node) const {
    if (problem_.values[value].is_there_first || users_[value].size() > after_[node].size() + 1) return false;
    looks_ -= static_cast<std::int64_t>(users_[value].size());
    return std::all_of(users_[value].begin(), users_[value].end(), [&](Index user) {
      const std::vector<Index>& before = problem_.nodes[user].before;
      return user == node || std::binary_search(before.begin(), before.end(), node);
    });
  }

  bool try_join(Index a, Index b) {
    Touch touch;
    if (problem_.nodes[a].steps.size() > kMostSteps || uses_[b] > kMostUses || looks_ <= 0) return false;
    looks_ -= static_cast<std::int64_t>(uses_[a]);
    if (!look(a, b, touch) || touch.born < touch.may_die || touch.unknown.size() > kMostUnknown) return false;
    std::int64_t most = 0;
    for (std::uint32_t dies = 0; dies < 1U << touch.unknown.size(); ++dies) {
      most = std::max(most, overhang(a, b, touch, dies));
    }
    const std::int64_t above = most - rise(b);
    if (above > tolerance_) return false;
    join(a, b, above <= 0);
    return true;
  }

  void join(Index a, Index b, bool counts) {
    Node& first = problem_.nodes[a];
    Node& second = problem_.nodes[b];
    for (OrderProblem::Step& step : first.steps) step.counts = step.counts && counts;
    for (Index value : values_of(first)) {
      looks_ -= static_cast<std::int64_t>(users_[value].size() / kMoved);
      rename(users_[value], a, b);
    }
    uses_[b] += std::exchange(uses_[a], 0);
    first.steps.insert(first.steps.end(), std::make_move_iterator(second.steps.begin()),
                       std::make_move_iterator(second.steps.end()));
    second.steps = std::exchange(first.steps, {});
    for (Index before : first.before) {
      looks_ -= static_cast<std::int64_t>(after_[before].size() / kMoved);
      rename(after_[before], a, b);
    }
    looks_ -= static_cast<std::int64_t>(second.before.size() + second.steps.size());
    std::erase(second.before, a);
    const auto own = static_cast<std::ptrdiff_t>(second.before.size());
    second.before.insert(second.before.end(), first.before.begin(), first.before.end());
    // Both are sorted. To sort 10,000 entries again for each of 10,000 nodes that are joined would take seconds.
    std::inplace_merge(second.before.begin(), second.before.begin() + own, second.before.end());
    second.before.erase(std::unique(second.before.begin(), second.before.end()), second.before.end());
    first.before.clear();
    after_[a].clear();
  }

  [[nodiscard]] OrderProblem renumbered() {
    OrderProblem out{.nodes = {}, .values = std::move(problem_.values), .base = problem_.base};
    std::vector<Index> number(problem_.nodes.size(), 0);
    for (Index node = 0; node < problem_.nodes.size(); ++node) {
      Node& one = problem_.nodes[node];
      if (one.steps.empty()) continue;
      number[node] = static_cast<Index>(out.nodes.size());
      for (Index& before : one.before) before = number[before];
      out.nodes.push_back(std::move(one));
    }
    return out;
  }

  OrderProblem problem_;
  std::int64_t tolerance_;
  std::int64_t& looks_;
  std::vector<std::vector<Index>> after_;
  std::vector<std::vector<Index>> users_;  // nodes that touch a value; sorted
  std::vector<std::size_t> uses_;          // by node: how often its steps use a value
  std::vector<std::uint32_t> unused_;      // all 0 between calls
  std::vector<std::uint32_t> seen_by_;     // by value: the last call that saw it
  std::uint32_t looking_ = 0;
};

}  // namespace

OrderProblem contracted(const OrderProblem& problem, std::int64_t tolerance) {
  std::int64_t looks = kLooksPerEntry * entries_of(problem);
  OrderProblem now = Contraction(problem, tolerance, looks).run();
  for (std::size_t before = problem.nodes.size() + 1; now.nodes.size() < before;) {
    before = now.nodes.size();
    now = reversed(Contraction(reversed(now), tolerance, looks).run());
    if (now.nodes.size() < before) now = Contraction(now, tolerance, looks).run();
  }
  return now;
}

OrderProblem all_counted(OrderProblem problem) {
  for (OrderProblem::Node& node : problem.nodes) {
    for (OrderProblem::Step& step : node.steps) step.counts = true;
  }
  return problem;
}

}  // namespace lowtide::schedule_internal
