// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lowtide/earlier/baselines/rules/sharing_rules.h"
#include "lowtide/earlier/baselines/rules/token_set.h"

namespace lowtide::baselines_internal {
namespace {

constexpr std::int64_t kMostTokenWords = 100'000'000;      // less than a second, and less than a gigabyte
constexpr std::int64_t kMostExaminedBlocks = 400'000'000;  // a few seconds

struct FreeBlock {
  std::int64_t sharers = 0;  // when it was released
  BlobId blob;
};

// What the walk knows of a blob. A block has the id of the blob that opened it.
struct BlobState {
  std::vector<std::uint32_t> readers;  // ops that take part, as often as they read it; empty if it cannot share
  std::uint32_t reads_seen = 0;
  std::uint32_t rank = 0;  // by name
  bool is_shareable = false;
  bool is_written = false;  // an op that takes part writes it
  bool is_placed = false;   // its first write has been visited
  bool was_free = false;
  std::int64_t sharers = 0;     // of its block
  std::optional<BlobId> block;  // the block that it moved into
  TokenSet needs;               // the tokens of all ops that used its block
};

struct OpState {
  std::uint32_t edges = 0;  // from results of ops that take part
  std::uint32_t reached = 0;
  bool is_visited = false;
  TokenSet tokens;  // left by edges
};

class TokenWalk {
 public:
  TokenWalk(const BlobNet& net, const DagRule& rule)
      : net_(net), rule_(rule), blobs_(net.blobs.size()), ops_(net.ops.size()) {}

  Result<TokenChoice> run() && {
    describe_blobs();
    count_edges();
    for (BlobId head : rule_.heads) {
      for (std::uint32_t at : blobs_[head].readers) {
        if (!failure_ && !ops_[at].is_visited) walk_from(at);
      }
    }
    if (work_ > kMostTokenWords) return too_large("words of token sets", kMostTokenWords, "kMostTokenWords");
    if (examined_ > kMostExaminedBlocks) return too_large("free buffers", kMostExaminedBlocks, "kMostExaminedBlocks");
    return TokenChoice{failure_ ? BlockChoice{} : named_choice(), std::move(failure_)};
  }

 private:
  struct Frame {
    std::uint32_t at = 0;
    TokenSet tokens;
    bool branches = false;   // its results have several readers
    std::size_t output = 0;  // the next edge
    std::size_t reader = 0;
  };

  bool is_too_much() const { return work_ > kMostTokenWords || examined_ > kMostExaminedBlocks; }
  std::string name_of(std::uint32_t at) const {
    return "node " + std::to_string(net_.ops[at].node.value()) + " (" + net_.graph->op(net_.ops[at].node).type + ")";
  }
  void describe_blobs();
  void count_edges();
  void walk_from(std::uint32_t start);
  void enter(std::uint32_t at, TokenSet tokens);
  void follow(Frame& frame, std::uint32_t reader);
  void note_use(BlobId id, const TokenSet& tokens);
  void place(BlobId id, const TokenSet& tokens);
  std::optional<std::size_t> preferred(BlobId id, const TokenSet& tokens);
  bool may_take(BlobId block, BlobId id, const TokenSet& tokens);
  void release(const std::vector<FreeBlock>& released);
  BlobId block_of(BlobId id) const { return blobs_[id].block.value_or(id); }
  std::uint32_t device_of(BlobId id) const { return blobs_[id].is_written ? net_.blobs[id].device : 0; }
  bool is_above(const FreeBlock& a, const FreeBlock& b) const {
    return std::tuple(-a.sharers, blobs_[a.blob].rank) > std::tuple(-b.sharers, blobs_[b.blob].rank);
  }
  BlockChoice named_choice() const;

  const BlobNet& net_;
  const DagRule& rule_;
  IdVector<BlobId, BlobState> blobs_;
  std::vector<OpState> ops_;
  std::vector<Frame> path_;
  std::vector<FreeBlock> pool_;  // sorted by preference; with sizes, a binary heap as the original's
  std::uint32_t tokens_ = 0;
  std::int64_t work_ = 0;  // words of token sets
  std::int64_t examined_ = 0;
  std::optional<std::string> failure_;
};

void TokenWalk::describe_blobs() {
  std::vector<BlobId> by_name;
  for (BlobId id : all_ids<BlobId>(net_.blobs.size())) {
    by_name.push_back(id);
    blobs_[id].is_shareable = rule_.may_move.test(id) || rule_.may_host.test(id);
  }
  std::sort(by_name.begin(), by_name.end(),
            [&](BlobId a, BlobId b) { return net_.blobs[a].name < net_.blobs[b].name; });
  for (std::size_t at = 0; at < by_name.size(); ++at) blobs_[by_name[at]].rank = static_cast<std::uint32_t>(at);
  for (std::uint32_t at = 0; at < net_.ops.size(); ++at) {
    if (!rule_.takes_part.test(at)) continue;
    for (BlobId id : net_.ops[at].outputs) blobs_[id].is_written = true;
  }
}

void TokenWalk::count_edges() {
  Flags<BlobId> is_head(net_.blobs.size());
  for (BlobId id : rule_.heads) is_head.set(id);
  IdVector<BlobId, std::uint32_t> writes(net_.blobs.size(), 0);
  for (std::uint32_t at = 0; at < net_.ops.size(); ++at) {
    if (!rule_.takes_part.test(at)) continue;
    for (BlobId id : net_.ops[at].reads) {
      BlobState& blob = blobs_[id];
      if (!blob.is_shareable && !is_head.test(id)) continue;
      if (!blob.is_written) blob.sharers = 1;
      if (blob.is_written && writes[id] == 0 && !failure_) {
        failure_ = "it stops, because " + name_of(at) + " reads '" + std::string(net_.blobs[id].name) +
                   "' before the first node that writes this name";
      }
      ops_[at].edges += writes[id];
      blob.readers.push_back(at);
    }
    for (BlobId id : net_.ops[at].outputs) ++writes[id];
  }
}

void TokenWalk::walk_from(std::uint32_t start) {
  pool_.clear();
  TokenSet first;
  first.add(tokens_++, work_);
  enter(start, std::move(first));
  while (!path_.empty() && !failure_ && !is_too_much()) {
    Frame& top = path_.back();
    const std::vector<BlobId>& outputs = net_.ops[top.at].outputs;
    if (top.output == outputs.size()) {
      path_.pop_back();
    } else if (top.reader == blobs_[outputs[top.output]].readers.size()) {
      ++top.output;
      top.reader = 0;
    } else {
      follow(top, blobs_[outputs[top.output]].readers[top.reader++]);
    }
  }
  path_.clear();
}

void TokenWalk::follow(Frame& frame, std::uint32_t reader) {
  OpState& op = ops_[reader];
  if (++op.reached != op.edges) {
    if (!op.is_visited) op.tokens.add(frame.tokens, work_);
    return;
  }
  if (op.is_visited) {
    failure_ = "it stops, because " + name_of(reader) + " was visited from a head before its other inputs were there";
    return;
  }
  TokenSet tokens = frame.tokens;
  if (frame.branches) tokens.add(tokens_++, work_);
  enter(reader, std::move(tokens));  // `frame` is gone after this
}

void TokenWalk::note_use(BlobId id, const TokenSet& tokens) {
  const BlobId block = block_of(id);
  blobs_[block].needs.add(tokens, work_);
  // A blob that was free before its own first write may have moved since.
  if (block != id && blobs_[id].was_free) blobs_[id].needs.add(tokens, work_);
}

void TokenWalk::enter(std::uint32_t at, TokenSet tokens) {
  OpState& state = ops_[at];
  tokens.add(state.tokens, work_);
  state.tokens = {};
  state.is_visited = true;
  const BlobOp& op = net_.ops[at];
  for (BlobId id : op.inputs) note_use(id, tokens);
  for (BlobId id : op.outputs) note_use(id, tokens);
  std::vector<FreeBlock> released;
  for (BlobId id : op.reads) {
    BlobState& blob = blobs_[id];
    if (!blob.is_shareable || ++blob.reads_seen != blob.readers.size()) continue;
    const BlobId block = block_of(id);
    if (!rule_.is_not_released.test(block)) released.push_back({blobs_[block].sharers, block});
  }
  bool branches = false;
  std::size_t edges = 0;
  for (BlobId id : op.outputs) {
    edges += blobs_[id].readers.size();
    const auto is_it = [&](const FreeBlock& one) { return one.blob == id; };
    if (!blobs_[id].is_shareable || blobs_[id].is_placed) continue;
    if (std::any_of(released.begin(), released.end(), is_it)) continue;  // written in place
    place(id, tokens);
    blobs_[id].is_placed = true;
  }
  branches = edges > 1;
  release(released);
  path_.push_back({.at = at, .tokens = std::move(tokens), .branches = branches});
}

bool TokenWalk::may_take(BlobId block, BlobId id, const TokenSet& tokens) {
  ++examined_;
  return device_of(block) == device_of(id) && tokens.contains(blobs_[block].needs, work_);
}

// The index in pool_ of the block that the blob takes.
std::optional<std::size_t> TokenWalk::preferred(BlobId id, const TokenSet& tokens) {
  std::optional<std::size_t> best;
  std::int64_t best_size = -1;
  for (std::size_t at = 0; at < pool_.size() && !is_too_much(); ++at) {
    const BlobId block = pool_[at].blob;
    if (!may_take(block, id, tokens)) continue;
    if (!rule_.by_size) return at;
    const std::int64_t size = net_.blobs[block].elements;
    if (size < best_size || (best_size >= net_.blobs[id].elements && best_size < size)) continue;
    best_size = size;
    best = at;
  }
  return best;
}

void TokenWalk::place(BlobId id, const TokenSet& tokens) {
  const std::optional<std::size_t> at = preferred(id, tokens);
  if (!at) return;
  const BlobId block = pool_[*at].blob;
  pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(*at));
  blobs_[block].needs.add(tokens, work_);
  ++blobs_[block].sharers;
  blobs_[id].block = block;
}

void TokenWalk::release(const std::vector<FreeBlock>& released) {
  const std::size_t before = pool_.size();
  std::vector<FreeBlock> added;
  for (const FreeBlock& one : released) {
    const auto is_it = [&](const FreeBlock& other) { return other.blob == one.blob; };
    examined_ += static_cast<std::int64_t>(before);
    if (std::any_of(pool_.begin(), pool_.end(), is_it)) continue;
    added.push_back(one);
  }
  for (const FreeBlock& one : added) {
    blobs_[one.blob].was_free = true;
    if (!rule_.by_size) {
      const auto behind =
          std::find_if(pool_.begin(), pool_.end(), [&](const FreeBlock& other) { return is_above(other, one); });
      pool_.insert(behind, one);
      continue;
    }
    // Into a binary heap, in which each block comes before the two below it. A block that was taken out of the middle
    // may have left it out of order.
    std::size_t at = pool_.size();
    pool_.push_back(one);
    for (; at > 0 && is_above(pool_[(at - 1) / 2], one); at = (at - 1) / 2) pool_[at] = pool_[(at - 1) / 2];
    pool_[at] = one;
  }
}

// A block of a blob that the rule does not write keeps the name of the blob.
BlockChoice TokenWalk::named_choice() const {
  BlockChoice choice{.block = IdVector<BlobId, std::optional<std::uint32_t>>(net_.blobs.size()), .names = {}};
  Flags<BlobId> is_host(net_.blobs.size());
  for (const BlobState& blob : blobs_) {
    if (blob.block) is_host.set(*blob.block);
  }
  IdVector<BlobId, std::optional<std::uint32_t>> number(net_.blobs.size());
  std::uint32_t made = 0;
  for (BlobId id : all_ids<BlobId>(net_.blobs.size())) {
    const BlobId block = block_of(id);
    if (!is_host.test(block)) continue;
    if (!number[block]) {
      number[block] = static_cast<std::uint32_t>(choice.names.size());
      const bool is_shared = blobs_[block].is_written;
      choice.names.push_back(is_shared ? rule_.namescope + "__m" + std::to_string(made++) + "_shared"
                                       : std::string(net_.blobs[block].name));
    }
    choice.block[id] = number[block];
  }
  return choice;
}

}  // namespace

Result<TokenChoice> recycle_by_tokens(const BlobNet& net, const DagRule& rule) { return TokenWalk(net, rule).run(); }

}  // namespace lowtide::baselines_internal
