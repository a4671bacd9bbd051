// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/orders/order_state.h"

#include <algorithm>
#include <bit>

#include "lowtide/base/random.h"

namespace lowtide::schedule_internal {
namespace {

constexpr std::uint64_t kSeed = 0x9e3779b97f4a7c15;

// Above kNearEntries the tables are too large for the caches near a core, so each access takes longer.
constexpr std::int64_t kFarLook = 4;
constexpr std::int64_t kNearEntries = 1 << 14;
constexpr std::int64_t kMaking = 4;  // for each entry of the lists

}  // namespace

OrderState::Lists::Lists(const std::vector<std::uint32_t>& sizes) : begin_(sizes.size() + 1, 0) {
  for (std::size_t list = 0; list < sizes.size(); ++list) begin_[list + 1] = begin_[list] + sizes[list];
  next_.assign(begin_.begin(), begin_.end() - 1);
  entries_.resize(begin_.back());
}

OrderState::OrderState(const OrderProblem& problem)
    : problem_(problem),
      most_uses_(problem.values.size(), 0),
      waiting_(problem.nodes.size()),
      unused_(problem.values.size()),
      place_(problem.nodes.size()),
      effects_(problem.nodes.size()),
      is_known_(problem.nodes.size()),
      keys_(problem.nodes.size()),
      words_(words_for(problem), 0),
      left_(problem.nodes.size()),
      live_(problem.base) {
  collect_lists();
  Random random(kSeed);
  for (Index node = 0; node < problem.nodes.size(); ++node) {
    keys_[node] = random.next();
    waiting_[node] = static_cast<std::uint32_t>(problem.nodes[node].before.size());
    if (waiting_[node] == 0) add_ready(node);
  }
  for (Index value = 0; value < problem.values.size(); ++value) {
    unused_[value] = problem.values[value].users;
    if (problem.values[value].is_there_first) live_ += problem.values[value].size;
  }
}

void OrderState::collect_lists() {
  const auto count = static_cast<Index>(problem_.nodes.size());
  std::vector<std::uint32_t> after(count, 0);
  std::vector<std::uint32_t> uses(count, 0);
  std::vector<std::uint32_t> users(problem_.values.size(), 0);
  std::vector<std::uint32_t> own(problem_.values.size(), 0);  // uses by the node that is looked at
  for (Index id = 0; id < count; ++id) {
    const OrderProblem::Node& node = problem_.nodes[id];
    for (Index before : node.before) ++after[before];
    for (const OrderProblem::Step& step : node.steps) {
      uses[id] += static_cast<std::uint32_t>(step.values.size());
      for (Index value : step.values) {
        if (++own[value] == 1) ++users[value];
        most_uses_[value] = std::max(most_uses_[value], own[value]);
      }
    }
    for (const OrderProblem::Step& step : node.steps) {
      for (Index value : step.values) own[value] = 0;
    }
  }
  std::int64_t entries = 0;
  after_ = Lists(after);
  uses_ = Lists(uses);
  users_ = Lists(users);
  for (Index id = 0; id < count; ++id) {
    const OrderProblem::Node& node = problem_.nodes[id];
    for (Index before : node.before) after_.add(before, id);
    for (const OrderProblem::Step& step : node.steps) {
      for (Index value : step.values) {
        uses_.add(id, value);
        if (++own[value] == 1) users_.add(value, id);
      }
    }
    for (Index value : uses_[id]) own[value] = 0;
    entries += static_cast<std::int64_t>(1 + node.before.size() + 2 * uses_[id].size());
  }
  work_ += kMaking * entries;
  if (entries > kNearEntries) look_ = kFarLook;
}

void OrderState::add_ready(Index node) {
  is_known_.reset(node);
  place_[node] = static_cast<Index>(ready_.size());
  ready_.push_back(node);
}

void OrderState::remove_ready(Index node) {
  ready_[place_[node]] = ready_.back();
  place_[ready_.back()] = place_[node];
  ready_.pop_back();
}

std::int64_t OrderState::saved_by(const OrderProblem::Step& step) const {
  std::int64_t dying = 0;
  std::int64_t born = 0;
  for (Index value : step.dying) dying += is_last_use(value) ? problem_.values[value].size : 0;
  for (Index value : step.born) born += is_new(value) ? problem_.values[value].size : 0;
  return std::min(dying, born);
}

// The load is relative to the live bytes before the node.
void OrderState::find_effect(Index id) {
  Effect effect;
  for (const OrderProblem::Step& step : problem_.nodes[id].steps) {
    std::int64_t load = effect.change + step.scratch;
    const std::int64_t saved = step.born.empty() ? 0 : saved_by(step);
    work_ += look_ * static_cast<std::int64_t>(1 + step.values.size() + step.born.size() + step.dying.size());
    for (Index value : step.values) {
      const std::int64_t size = problem_.values[value].size;
      if (is_new(value)) load += size, effect.change += size;
      if (is_last_use(value)) effect.change -= size;
      --unused_[value];
    }
    if (step.counts) effect.load = std::max(effect.load, load - saved);
  }
  for (Index value : uses_[id]) ++unused_[value];
  effects_[id] = effect;
  is_known_.set(id);
}

// The effect of a node depends on whether a value begins with it, and whether all uses that are left are its own.
bool OrderState::matters(Index value, std::uint32_t unused_before) const {
  const OrderProblem::Value& one = problem_.values[value];
  return (unused_before == one.users && !one.is_there_first) ||
         (unused_before <= most_uses_[value] + 1 && !one.is_kept);
}

void OrderState::forget_effects(Index value) {
  for (Index user : users_[value]) is_known_.reset(user);
  work_ += look_ * static_cast<std::int64_t>(users_[value].size());
}

void OrderState::run(Index id) {
  for (Index value : uses_[id]) {
    if (is_new(value)) live_ += problem_.values[value].size;
    if (is_last_use(value)) live_ -= problem_.values[value].size;
    if (matters(value, unused_[value]--)) forget_effects(value);
  }
  remove_ready(id);
  waiting_[id] = kHasRun;
  --left_;
  hash_ ^= keys_[id];
  words_[id / 64] |= std::uint64_t{1} << (id % 64);
  for (Index after : after_[id]) {
    if (--waiting_[after] == 0) add_ready(after);
  }
  work_ += look_ * static_cast<std::int64_t>(2 + uses_[id].size() + after_[id].size());
}

void OrderState::undo(Index id) {
  for (Index after : after_[id]) {
    if (waiting_[after]++ == 0) remove_ready(after);
  }
  words_[id / 64] &= ~(std::uint64_t{1} << (id % 64));
  hash_ ^= keys_[id];
  ++left_;
  waiting_[id] = 0;
  add_ready(id);
  const std::span<const Index> uses = uses_[id];
  for (std::size_t at = uses.size(); at-- > 0;) {
    const Index value = uses[at];
    if (matters(value, ++unused_[value])) forget_effects(value);
    if (is_last_use(value)) live_ += problem_.values[value].size;
    if (is_new(value)) live_ -= problem_.values[value].size;
  }
  work_ += look_ * static_cast<std::int64_t>(2 + uses_[id].size() + after_[id].size());
}

// Node numbers are topological, so the intersection of both sets is a downset, and so are all sets on the way.
void OrderState::go_to(const std::uint64_t* words) {
  work_ += static_cast<std::int64_t>(words_.size());
  for (std::size_t at = words_.size(); at-- > 0;) {
    for (std::uint64_t bits = words_[at] & ~words[at]; bits != 0;) {
      const auto bit = static_cast<std::size_t>(63 - std::countl_zero(bits));
      bits &= ~(std::uint64_t{1} << bit);
      undo(static_cast<Index>(64 * at + bit));
    }
  }
  for (std::size_t at = 0; at < words_.size(); ++at) {
    for (std::uint64_t bits = words[at] & ~words_[at]; bits != 0; bits &= bits - 1) {
      run(static_cast<Index>(64 * at + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

std::int64_t peak_of(const OrderProblem& problem, const std::vector<OrderProblem::Index>& order) {
  OrderState state(problem);
  std::int64_t peak = problem.base;
  for (OrderProblem::Index node : order) {
    peak = std::max(peak, state.effect_of(node).load);
    state.run(node);
  }
  return peak;
}

}  // namespace lowtide::schedule_internal
