// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bounds/downset_walk.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace lowtide::verify_internal {
namespace {

using Index = OrderCount::Index;

std::size_t hash_of(const std::uint64_t* words, std::size_t count) {
  std::uint64_t hash = count;
  for (std::size_t at = 0; at < count; ++at) {
    hash = (hash ^ words[at]) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

}  // namespace

DownsetWalk::DownsetWalk(const OrderCount& count, std::int64_t most)
    : count_(count), most_(most), words_a_set_((count.nodes.size() + 63) / 64), table_(1024, kNone) {
  start_.has_run.assign(count.nodes.size(), 0);
  start_.live = count.base;
  start_.left = count.nodes.size();
  for (Index node = 0; node < count.nodes.size(); ++node) {
    start_.waiting.push_back(static_cast<Index>(count.nodes[node].before.size()));
    if (start_.waiting.back() == 0) start_.ready.push_back(node);
  }
  for (const OrderCount::Piece& piece : count.pieces) {
    start_.unused.push_back(piece.users);
    if (piece.is_first) start_.live += piece.size;
  }
  find_joints();
  state_ = start_;
  if (count_.rounded(state_.live) > most_) return;  // nothing may even begin
  run_safe_nodes();
  keep(kNone, kNone);
}

// Nodes are topological. One leads to all behind it if each of these has, at or behind it, someone it waits for; all
// before lead to it if each of these has, up to it, someone who waits for it.
void DownsetWalk::find_joints() {
  const std::size_t count = count_.nodes.size();
  std::vector<std::int64_t> passed_by(count + 1, 0);  // differences: edges over the node that break one of the two
  for (std::size_t node = 0; node < count; ++node) {
    const OrderCount::Node& one = count_.nodes[node];
    const std::size_t from = one.before.empty() ? 0 : one.before.back() + std::size_t{1};
    const std::size_t to = one.after.empty() ? count : one.after.front();
    if (from < node) ++passed_by[from], --passed_by[node];
    if (node + 1 < to) ++passed_by[node + 1], --passed_by[to];
  }
  is_joint_.assign(count + 1, 0);
  std::int64_t passing = 0;
  for (std::size_t node = 0; node < count; ++node) {
    passing += passed_by[node];
    if (passing == 0) is_joint_[node] = is_joint_[node + 1] = 1;
  }
}

bool DownsetWalk::has_begun(Index piece) const {
  return count_.pieces[piece].is_first || state_.unused[piece] < count_.pieces[piece].users;
}

std::int64_t DownsetWalk::load_of(Index id) {
  const OrderCount::Node& node = count_.nodes[id];
  work_ += static_cast<std::int64_t>(node.pieces.size()) + 1;
  std::int64_t load = state_.live + node.scratch;
  for (Index piece : node.pieces) load += has_begun(piece) ? 0 : count_.pieces[piece].size;
  std::int64_t saved = 0;
  for (const std::vector<Index>& operand : node.overwritten) {
    std::int64_t dies = 0;
    for (Index piece : operand) {
      const OrderCount::Piece& one = count_.pieces[piece];
      // Read from the end, what dies is what begins.
      const bool ends_here = count_.is_turned ? !has_begun(piece) : state_.unused[piece] == 1 && !one.is_kept;
      if (ends_here) dies += one.size;
    }
    saved = std::max(saved, dies);
  }
  return count_.rounded(load - std::min(saved, node.written));
}

std::int64_t DownsetWalk::change_by(Index id) const {
  std::int64_t change = 0;
  for (Index piece : count_.nodes[id].pieces) {
    const OrderCount::Piece& one = count_.pieces[piece];
    if (!has_begun(piece)) change += one.size;
    if (state_.unused[piece] == 1 && !one.is_kept) change -= one.size;
  }
  return change;
}

void DownsetWalk::step(Index id) {
  state_.live += change_by(id);
  const OrderCount::Node& node = count_.nodes[id];
  for (Index piece : node.pieces) --state_.unused[piece];
  state_.has_run[id] = 1;
  --state_.left;
  state_.ready.erase(std::lower_bound(state_.ready.begin(), state_.ready.end(), id));
  for (Index next : node.after) {
    if (--state_.waiting[next] != 0) continue;
    state_.ready.insert(std::lower_bound(state_.ready.begin(), state_.ready.end(), next), next);
  }
  work_ += static_cast<std::int64_t>(node.pieces.size() + node.after.size() + state_.ready.size());
}

void DownsetWalk::load(Index set) {
  state_ = start_;
  const std::uint64_t* words = words_.data() + set * words_a_set_;
  work_ += static_cast<std::int64_t>(count_.nodes.size() + count_.pieces.size());
  for (std::size_t word = 0; word < words_a_set_; ++word) {
    // In ascending order, so each is ready when its turn comes.
    for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
      step(static_cast<Index>(word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))));
    }
  }
}

bool DownsetWalk::is_safe(Index node) { return change_by(node) <= 0 && load_of(node) <= most_; }

void DownsetWalk::run_safe_nodes() {
  for (std::size_t at = 0; at < state_.ready.size();) {
    if (is_safe(state_.ready[at])) {
      step(state_.ready[at]);
      at = 0;
    } else {
      ++at;
    }
  }
}

// The set table is half empty at least.
bool DownsetWalk::insert(const std::vector<std::uint64_t>& words) {
  if (parents_.size() * 2 >= table_.size()) grow();
  std::size_t at = hash_of(words.data(), words_a_set_) & (table_.size() - 1);
  for (; table_[at] != kNone; at = (at + 1) & (table_.size() - 1)) {
    const std::uint64_t* known = words_.data() + table_[at] * words_a_set_;
    if (std::equal(words.begin(), words.end(), known)) return false;
  }
  table_[at] = static_cast<Index>(parents_.size());
  words_.insert(words_.end(), words.begin(), words.end());
  return true;
}

void DownsetWalk::grow() {
  table_.assign(table_.size() * 2, kNone);
  for (Index set = 0; set < parents_.size(); ++set) {
    std::size_t at = hash_of(words_.data() + set * words_a_set_, words_a_set_) & (table_.size() - 1);
    while (table_[at] != kNone) at = (at + 1) & (table_.size() - 1);
    table_[at] = set;
  }
}

void DownsetWalk::keep(Index parent, Index chosen) {
  std::vector<std::uint64_t> words(words_a_set_, 0);
  for (std::size_t node = 0; node < count_.nodes.size(); ++node) {
    words[node / 64] |= static_cast<std::uint64_t>(state_.has_run[node]) << (node % 64);
  }
  if (!insert(words)) return;
  const auto index = static_cast<Index>(parents_.size());
  parents_.push_back(parent);
  chosen_.push_back(chosen);
  if (state_.left == 0) goal_ = index;
  if (is_joint_[count_.nodes.size() - state_.left] != 0) open_.clear();
  open_.push_back(index);
}

void DownsetWalk::expand(Index set) {
  load(set);
  std::vector<std::pair<std::int64_t, Index>> next;
  for (Index node : state_.ready) {
    if (load_of(node) <= most_) next.emplace_back(change_by(node), node);
  }
  // The last is looked at first: the one that adds least.
  std::sort(next.begin(), next.end(), std::greater<>());
  const State here = state_;
  for (const auto& [change, node] : next) {
    state_ = here;
    step(node);
    run_safe_nodes();
    const bool is_joint = is_joint_[count_.nodes.size() - state_.left] != 0;
    keep(set, node);
    if (goal_ != kNone || is_joint) return;  // its brothers come to the same set
  }
}

DownsetWalk::End DownsetWalk::run(std::int64_t work) {
  const std::int64_t end = work_ + work;
  while (goal_ == kNone && !open_.empty() && work_ < end && !is_full()) {
    const Index set = open_.back();
    open_.pop_back();
    expand(set);
  }
  if (goal_ != kNone) return End::complete;
  return open_.empty() ? End::exhausted : End::open;
}

std::vector<Index> DownsetWalk::order() const {
  std::vector<Index> path;
  for (Index set = goal_; parents_[set] != kNone; set = parents_[set]) path.push_back(chosen_[set]);
  std::reverse(path.begin(), path.end());
  DownsetWalk again(count_, most_);  // its state is that of the first set
  std::vector<Index> order;
  // A state knows what has run, not in which order: safe nodes are found again, one by one.
  again.state_ = again.start_;
  const auto take_safe = [&] {
    for (std::size_t at = 0; at < again.state_.ready.size();) {
      const Index node = again.state_.ready[at];
      if (!again.is_safe(node)) {
        ++at;
        continue;
      }
      again.step(node);
      order.push_back(node);
      at = 0;
    }
  };
  take_safe();
  for (Index chosen : path) {
    again.step(chosen);
    order.push_back(chosen);
    take_safe();
  }
  return order;
}

}  // namespace lowtide::verify_internal
