// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bounds/chains.h"

#include <algorithm>
#include <utility>

namespace lowtide::verify_internal {
namespace {

using Index = Chain::Index;

constexpr std::size_t kMostNodes = 20'000;  // for the matrix of ancestors
constexpr std::size_t kMostSteps = 512;     // of a joined chain, since each attempt runs all of them

// Which nodes run before which others, as one bit per pair of nodes.
class Ancestors {
 public:
  explicit Ancestors(const OrderCount& count)
      : words_((count.nodes.size() + 63) / 64), bits_(words_ * count.nodes.size()) {
    for (std::size_t node = 0; node < count.nodes.size(); ++node) {
      for (Index before : count.nodes[node].before) {
        for (std::size_t word = 0; word < words_; ++word) bits_[node * words_ + word] |= bits_[before * words_ + word];
        bits_[node * words_ + before / 64] |= std::uint64_t{1} << (before % 64);
      }
    }
  }

  [[nodiscard]] bool is_before(Index a, Index b) const { return (bits_[b * words_ + a / 64] >> (a % 64) & 1) != 0; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// Each chain is identified by one of its nodes, its head. Another chain comes before or after it if that chain comes
// before or after its head.
class Joining {
 public:
  explicit Joining(const OrderCount& count)
      : count_(count),
        ancestors_(count),
        chains_(single_chains(count)),
        after_(count.nodes.size()),
        users_(count.pieces.size()),
        unused_(count.pieces.size(), 0),
        head_(count.nodes.size()) {
    for (Index node = 0; node < count.nodes.size(); ++node) {
      head_[node] = node;
      after_[node] = count.nodes[node].after;
      for (Index piece : count.nodes[node].pieces) users_[piece].push_back(node);
    }
  }

  std::vector<Chain> run() && {
    for (bool has_joined = true; has_joined;) {
      has_joined = false;
      for (Index head = 0; head < chains_.size(); ++head) {
        has_joined = (is_chain(head) && join_late(head)) || has_joined;
        has_joined = (is_chain(head) && join_early(head)) || has_joined;
      }
    }
    return numbered();
  }

 private:
  // How the live bytes change while a chain runs, compared with those before it.
  struct Effect {
    std::int64_t most = 0;    // at the node with the largest load
    std::int64_t change = 0;  // after it
  };

  [[nodiscard]] bool is_chain(Index head) const { return !chains_[head].nodes.empty(); }

  [[nodiscard]] bool is_small(Index a, Index b) const {
    return chains_[a].nodes.size() + chains_[b].nodes.size() <= kMostSteps;
  }

  bool join_late(Index a) {
    if (after_[a].empty()) return false;
    const Index b = after_[a].front();
    const bool is_first = std::all_of(after_[a].begin() + 1, after_[a].end(),
                                      [&](Index other) { return ancestors_.is_before(b, other); });
    if (!is_first || !is_small(a, b)) return false;
    look(a, b, [&](Index user) { return user == a || ancestors_.is_before(a, user); });
    const Effect of_a = run_chain(a);
    const Effect of_b = run_chain(b);
    if (of_a.change < 0 || of_a.most > of_a.change + of_b.most) return false;
    join(a, b, b);
    return true;
  }

  bool join_early(Index b) {
    if (chains_[b].before.empty()) return false;
    const Index a = chains_[b].before.back();
    const bool is_last = std::all_of(chains_[b].before.begin(), chains_[b].before.end() - 1,
                                     [&](Index other) { return ancestors_.is_before(other, a); });
    if (!is_last || !is_small(a, b)) return false;
    look(a, b, [&](Index user) { return !ancestors_.is_before(user, a); });
    const Effect of_a = run_chain(a);
    const Effect of_b = run_chain(b);
    if (of_b.change > 0 || of_a.change + of_b.most > of_a.most) return false;
    join(a, b, a);
    return true;
  }

  // Sets unused_ of all pieces of the two chains. `is_left`: whether a chain is among those that have not run.
  template <typename IsLeft>
  void look(Index a, Index b, const IsLeft& is_left) {
    for (Index chain : {a, b}) {
      for (Index node : chains_[chain].nodes) {
        for (Index piece : count_.nodes[node].pieces) {
          unused_[piece] = static_cast<Index>(std::count_if(users_[piece].begin(), users_[piece].end(),
                                                            [&](Index user) { return is_left(head_[user]); }));
        }
      }
    }
  }

  [[nodiscard]] bool has_begun(Index piece) const {
    return count_.pieces[piece].is_first || unused_[piece] < count_.pieces[piece].users;
  }

  [[nodiscard]] bool is_last_use(Index piece) const { return unused_[piece] == 1 && !count_.pieces[piece].is_kept; }

  Effect run_chain(Index head) {
    Effect effect;
    bool is_begun = false;
    for (Index id : chains_[head].nodes) {
      const OrderCount::Node& node = count_.nodes[id];
      std::int64_t saved = 0;
      for (const std::vector<Index>& operand : node.overwritten) {
        std::int64_t dies = 0;
        for (Index piece : operand) dies += is_last_use(piece) ? count_.pieces[piece].size : 0;
        saved = std::max(saved, dies);
      }
      std::int64_t load = effect.change + node.scratch - std::min(saved, node.written);
      for (Index piece : node.pieces) {
        const std::int64_t size = count_.pieces[piece].size;
        if (!has_begun(piece)) load += size, effect.change += size;
        if (is_last_use(piece)) effect.change -= size;
        --unused_[piece];
      }
      effect.most = is_begun ? std::max(effect.most, load) : load;
      is_begun = true;
    }
    return effect;
  }

  // Both become one chain with the head `head`, which is one of them.
  void join(Index a, Index b, Index head) {
    const Index gone = head == a ? b : a;
    for (Index node : chains_[gone].nodes) head_[node] = head;
    std::vector<Index> nodes = std::move(chains_[a].nodes);
    nodes.insert(nodes.end(), chains_[b].nodes.begin(), chains_[b].nodes.end());
    chains_[gone].nodes.clear();
    chains_[head].nodes = std::move(nodes);
    for (Index before : chains_[gone].before) replace(after_[before], gone, head, before);
    for (Index after : after_[gone]) replace(chains_[after].before, gone, head, after);
    add(chains_[head].before, std::exchange(chains_[gone].before, {}), head);
    add(after_[head], std::exchange(after_[gone], {}), head);
  }

  // Replaces `from` by `to` in a sorted list of the chain `owner`. The list has each entry once and never contains its
  // owner.
  static void replace(std::vector<Index>& list, Index from, Index to, Index owner) {
    std::erase(list, from);
    if (to != owner) add(list, {to}, owner);
  }

  static void add(std::vector<Index>& list, const std::vector<Index>& more, Index owner) {
    list.insert(list.end(), more.begin(), more.end());
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    std::erase(list, owner);
  }

  std::vector<Chain> numbered() {
    std::vector<Index> number(chains_.size(), 0);
    std::vector<Chain> out;
    for (Index head = 0; head < chains_.size(); ++head) {
      if (!is_chain(head)) continue;
      number[head] = static_cast<Index>(out.size());
      for (Index& before : chains_[head].before) before = number[before];
      out.push_back(std::move(chains_[head]));
    }
    return out;
  }

  const OrderCount& count_;
  const Ancestors ancestors_;
  std::vector<Chain> chains_;              // by head; without nodes if joined to another
  std::vector<std::vector<Index>> after_;  // by head: chains that wait for it
  std::vector<std::vector<Index>> users_;  // by piece: nodes
  std::vector<Index> unused_;              // by piece that is looked at: users that have not run
  std::vector<Index> head_;                // by node
};

}  // namespace

std::vector<Chain> single_chains(const OrderCount& count) {
  std::vector<Chain> chains;
  chains.reserve(count.nodes.size());
  for (Index node = 0; node < count.nodes.size(); ++node) chains.push_back({{node}, count.nodes[node].before});
  return chains;
}

std::vector<Chain> joined_chains(const OrderCount& count) {
  return count.nodes.size() > kMostNodes ? single_chains(count) : Joining(count).run();
}

std::vector<Chain> turned(const std::vector<Chain>& chains, std::size_t nodes) {
  std::vector<Chain> out(chains.size());
  const auto last_node = static_cast<Index>(nodes - 1);
  const auto last = static_cast<Index>(chains.size() - 1);
  for (Index chain = last + 1; chain-- > 0;) {
    for (Index node : chains[chain].nodes) out[last - chain].nodes.push_back(last_node - node);
    std::reverse(out[last - chain].nodes.begin(), out[last - chain].nodes.end());
    for (Index before : chains[chain].before) out[last - before].before.push_back(last - chain);
  }
  return out;
}

// All later chains come after a chain c if each of them waits for c or for a chain after c. All earlier chains come
// before c if, for each of them, c or a chain before c waits for it. So each chain rules out those between its last
// predecessor and itself, and those between itself and its first successor.
std::vector<Index> cuts_of(const std::vector<Chain>& chains) {
  const std::size_t count = chains.size();
  std::vector<std::size_t> first_after(count, count);
  std::vector<std::int64_t> passed_by(count + 1, 0);  // differences
  const auto pass = [&](std::size_t begin, std::size_t end) {
    if (begin < end) ++passed_by[begin], --passed_by[end];
  };
  for (std::size_t chain = count; chain-- > 0;) {
    const std::vector<Index>& before = chains[chain].before;
    for (Index one : before) first_after[one] = chain;
    pass(before.empty() ? 0 : before.back() + std::size_t{1}, chain);
  }
  for (std::size_t chain = 0; chain < count; ++chain) pass(chain + 1, first_after[chain]);
  std::vector<Index> cuts = {0};
  std::int64_t passing = 0;
  for (std::size_t chain = 0; chain < count; ++chain) {
    passing += passed_by[chain];
    if (passing != 0) continue;
    if (cuts.back() != chain) cuts.push_back(static_cast<Index>(chain));
    cuts.push_back(static_cast<Index>(chain + 1));
  }
  if (cuts.back() != count) cuts.push_back(static_cast<Index>(count));
  return cuts;
}

}  // namespace lowtide::verify_internal
