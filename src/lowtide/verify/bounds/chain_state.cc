// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bounds/chain_state.h"

#include <algorithm>

namespace lowtide::verify_internal {

ChainState::ChainState(const OrderCount& count, const std::vector<Chain>& chains)
    : count_(count), chains_(chains), after_(chains.size()), live_(count.base) {
  for (Index chain = 0; chain < chains.size(); ++chain) {
    for (Index before : chains[chain].before) after_[before].push_back(chain);
    waiting_.push_back(static_cast<Index>(chains[chain].before.size()));
    if (waiting_.back() == 0) ready_.push_back(chain);
  }
  unused_.reserve(count.pieces.size());
  for (const OrderCount::Piece& piece : count.pieces) {
    unused_.push_back(piece.users);
    if (piece.is_first) live_ += piece.size;
  }
}

bool ChainState::has_begun(Index piece) const {
  return count_.pieces[piece].is_first || unused_[piece] < count_.pieces[piece].users;
}

bool ChainState::is_last_use(Index piece) const { return unused_[piece] == 1 && !count_.pieces[piece].is_kept; }

// The bytes that are saved if a result of the node takes over an operand that dies there. In a turned count, time runs
// backwards, so these pieces begin at the node.
std::int64_t ChainState::saved_by(const OrderCount::Node& node) const {
  std::int64_t saved = 0;
  for (const std::vector<Index>& operand : node.overwritten) {
    std::int64_t dies = 0;
    for (Index piece : operand) {
      const bool dies_here = count_.is_turned ? !has_begun(piece) : is_last_use(piece);
      dies += dies_here ? count_.pieces[piece].size : 0;
    }
    saved = std::max(saved, dies);
  }
  return std::min(saved, node.written);
}

// Counts the node as run, and returns the change of the live bytes.
std::int64_t ChainState::use(const OrderCount::Node& node) {
  std::int64_t change = 0;
  for (Index piece : node.pieces) {
    const std::int64_t size = count_.pieces[piece].size;
    if (!has_begun(piece)) change += size;
    if (is_last_use(piece)) change -= size;
    --unused_[piece];
  }
  work_ += static_cast<std::int64_t>(node.pieces.size()) + 1;
  return change;
}

ChainState::Effect ChainState::effect_of(Index chain) {
  Effect effect{.load = count_.base};
  for (Index id : chains_[chain].nodes) {
    const OrderCount::Node& node = count_.nodes[id];
    std::int64_t load = live_ + effect.change + node.scratch - saved_by(node);
    for (Index piece : node.pieces) load += has_begun(piece) ? 0 : count_.pieces[piece].size;
    effect.load = std::max(effect.load, load);
    effect.change += use(node);
  }
  for (Index id : chains_[chain].nodes) {
    for (Index piece : count_.nodes[id].pieces) ++unused_[piece];
  }
  effect.load = count_.rounded(effect.load);
  return effect;
}

void ChainState::run(Index chain) {
  for (Index node : chains_[chain].nodes) live_ += use(count_.nodes[node]);
  remove_ready(chain);
  waiting_[chain] = kHasRun;
  for (Index after : after_[chain]) {
    if (--waiting_[after] == 0) add_ready(after);
  }
  work_ += static_cast<std::int64_t>(after_[chain].size() + ready_.size());
}

void ChainState::undo(Index chain) {
  for (Index after : after_[chain]) {
    if (waiting_[after]++ == 0) remove_ready(after);
  }
  waiting_[chain] = 0;
  add_ready(chain);
  for (Index node : chains_[chain].nodes) {
    for (Index piece : count_.nodes[node].pieces) {
      ++unused_[piece];
      const std::int64_t size = count_.pieces[piece].size;
      if (is_last_use(piece)) live_ += size;
      if (!has_begun(piece)) live_ -= size;
    }
    work_ += static_cast<std::int64_t>(count_.nodes[node].pieces.size()) + 1;
  }
  work_ += static_cast<std::int64_t>(after_[chain].size() + ready_.size());
}

void ChainState::add_ready(Index chain) { ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), chain), chain); }

void ChainState::remove_ready(Index chain) { ready_.erase(std::lower_bound(ready_.begin(), ready_.end(), chain)); }

}  // namespace lowtide::verify_internal
