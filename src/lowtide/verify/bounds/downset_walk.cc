// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bounds/downset_walk.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "lowtide/base/check.h"

namespace lowtide::verify_internal {
namespace {

using Index = Chain::Index;

std::size_t hash_of(const std::uint64_t* words, std::size_t count) {
  std::uint64_t hash = count;
  for (std::size_t at = 0; at < count; ++at) {
    hash = (hash ^ words[at]) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

constexpr std::int64_t kBytesPerSet = 40;   // in addition to its words, with space for the vectors to grow
constexpr std::int64_t kChainsPerUnit = 2;  // chains that go_to looks at per unit of work

bool has_bit(const std::uint64_t* words, Index bit) { return (words[bit / 64] >> (bit % 64) & 1) != 0; }

}  // namespace

DownsetWalk::DownsetWalk(const Range& range, std::int64_t most, std::int64_t& bytes_left)
    : range_(range),
      most_(most),
      bytes_left_(bytes_left),
      state_(range.count, range.chains),
      words_per_set_((range.end - range.begin + 63) / 64),
      bytes_per_set_(kBytesPerSet + static_cast<std::int64_t>(8 * words_per_set_)),
      table_(64, 0) {
  for (Index chain = 0; chain < range.begin; ++chain) state_.run(chain);
  if (range.count.rounded(state_.live()) > most_) return;  // these bytes live here in every order
  run_safe_chains(nullptr);
  keep(std::nullopt);
}

// The chains are in topological order. So the chains that both sets contain can have run, and so can every set on the
// way.
void DownsetWalk::go_to(Index set) {
  const std::uint64_t* words = words_.data() + set * words_per_set_;
  work_ += (range_.end - range_.begin) / kChainsPerUnit + 1;
  for (Index chain = range_.end; chain-- > range_.begin;) {
    if (state_.has_run(chain) && !has_bit(words, chain - range_.begin)) state_.undo(chain);
  }
  for (Index chain = range_.begin; chain < range_.end; ++chain) {
    if (!state_.has_run(chain) && has_bit(words, chain - range_.begin)) state_.run(chain);
  }
}

bool DownsetWalk::is_safe(Index chain) {
  const ChainState::Effect effect = state_.effect_of(chain);
  return effect.change <= 0 && effect.load <= most_;
}

// A safe chain stays safe until it runs. So the same chains run, in whatever sequence they are taken.
void DownsetWalk::run_safe_chains(std::vector<Index>* order) {
  for (bool has_run = true; has_run;) {
    has_run = false;
    const std::vector<Index> ready = state_.ready();
    for (Index chain : ready) {
      if (chain >= range_.end || !is_safe(chain)) continue;
      state_.run(chain);
      if (order != nullptr) order->push_back(chain);
      has_run = true;
    }
  }
}

// Returns false if the set is known.
bool DownsetWalk::insert(const std::vector<std::uint64_t>& words) {
  if (predecessors_.size() * 2 >= table_.size()) grow();
  std::size_t at = hash_of(words.data(), words_per_set_) & (table_.size() - 1);
  for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
    if (std::equal(words.begin(), words.end(), words_.data() + (table_[at] - 1) * words_per_set_)) return false;
  }
  table_[at] = static_cast<Index>(predecessors_.size() + 1);
  words_.insert(words_.end(), words.begin(), words.end());
  return true;
}

void DownsetWalk::grow() {
  table_.assign(table_.size() * 2, 0);
  for (Index set = 0; set < predecessors_.size(); ++set) {
    std::size_t at = hash_of(words_.data() + set * words_per_set_, words_per_set_) & (table_.size() - 1);
    while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = set + 1;
  }
}

void DownsetWalk::keep(std::optional<Predecessor> predecessor) {
  std::vector<std::uint64_t> words(words_per_set_, 0);
  bool is_complete = true;
  for (Index chain = range_.begin; chain < range_.end; ++chain) {
    const Index bit = chain - range_.begin;
    if (state_.has_run(chain)) words[bit / 64] |= std::uint64_t{1} << (bit % 64);
    is_complete = is_complete && state_.has_run(chain);
  }
  if (!insert(words)) return;
  const auto set = static_cast<Index>(predecessors_.size());
  predecessors_.push_back(predecessor);
  bytes_left_ -= bytes_per_set_;
  open_.push_back(set);
  if (is_complete) goal_ = set;
}

void DownsetWalk::expand(Index set) {
  go_to(set);
  std::vector<std::pair<std::int64_t, Index>> next;
  for (Index chain : state_.ready()) {
    if (chain >= range_.end) continue;
    const ChainState::Effect effect = state_.effect_of(chain);
    if (effect.load <= most_) next.emplace_back(effect.change, chain);
  }
  // The set that is pushed last is expanded first. Its chain adds the fewest bytes.
  std::sort(next.begin(), next.end(), std::greater<>());
  for (const auto& [change, chain] : next) {
    go_to(set);
    state_.run(chain);
    run_safe_chains(nullptr);
    keep(Predecessor{.parent = set, .chosen = chain});
    if (goal_) return;
  }
}

DownsetWalk::End DownsetWalk::run(std::int64_t work) {
  const std::int64_t end = this->work() + work;
  while (!goal_ && !open_.empty() && this->work() < end && bytes_left_ > 0) {
    const Index set = open_.back();
    open_.pop_back();
    expand(set);
  }
  if (goal_) return End::complete;
  return open_.empty() ? End::exhausted : End::open;
}

// A set records which chains have run, but not their order. So the safe chains are found again.
std::vector<Index> DownsetWalk::order() {
  LOWTIDE_CHECK(goal_.has_value(), "an order was found before it is requested");
  std::vector<Index> path;
  for (Index set = *goal_; predecessors_[set]; set = predecessors_[set]->parent)
    path.push_back(predecessors_[set]->chosen);
  std::reverse(path.begin(), path.end());
  for (Index chain = range_.end; chain-- > range_.begin;) {
    if (state_.has_run(chain)) state_.undo(chain);
  }
  std::vector<Index> order;
  run_safe_chains(&order);
  for (Index chosen : path) {
    state_.run(chosen);
    order.push_back(chosen);
    run_safe_chains(&order);
  }
  return order;
}

}  // namespace lowtide::verify_internal
