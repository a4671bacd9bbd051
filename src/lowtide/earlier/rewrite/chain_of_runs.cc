// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/chain_of_runs.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace lowtide::rewrite_internal {
namespace {

using RunsByRun = std::map<std::uint32_t, std::vector<std::uint32_t>>;

// A shape becomes a constant if it is known, and then nothing waits for it any more. A NoOp needs no memory.
constexpr auto kUnchained = std::to_array<std::string_view>(
    {"BroadcastGradientArgs", "NoOp", "Rank", "Shape", "ShapeN", "Size", "VariableShape"});

// Operators that may be joined with the node of operand 0, while operand 1 is a bias or a filter.
constexpr auto kJoined =
    std::to_array<std::string_view>({"BiasAdd", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "MatMul"});

template <typename List>
bool lists_op(const List& list, std::string_view op) {
  return std::ranges::find(list, op) != list.end();
}

// A run that is not a link of the chain.
struct LooseRun {
  std::uint32_t first = 0;  // it waits for no run from here on
  std::uint32_t last = 0;   // the first link behind this one waits for it
};
using LooseRuns = std::map<std::uint32_t, LooseRun>;

class LooseRunFinder {
 public:
  LooseRunFinder(const std::vector<ChainedRun>& runs, const std::vector<OperandRead>& reads) : reads_(reads) {
    for (const ChainedRun& run : runs) runs_[run.at] = &run;
    for (const OperandRead& read : reads) sources_[read.reader].push_back(read.source);
    for (const OperandRead& read : reads) {
      const bool is_gradient =
          op_of(read.reader).find("BackpropFilter") != std::string_view::npos || op_of(read.reader) == "MatMul";
      if (is_gradient) add_to(joined_readers_, behind_identities(read.source), read.reader);
    }
  }

  LooseRuns find() {
    for (const OperandRead& read : reads_) add_read(read);
    // What a read reads itself must be there.
    std::erase_if(loose_, [&](const auto& entry) {
      const std::vector<std::uint32_t>& own = sources_[entry.first];
      return std::ranges::any_of(own, [&](std::uint32_t source) { return source >= entry.second.first; });
    });
    for (const OperandRead& read : reads_) {
      if (op_of(read.reader) == "BiasAddGrad") add_bias_gradient(read);
    }
    for (const auto& [at, run] : runs_) add_reader_of_loose(at);
    return std::move(loose_);
  }

 private:
  [[nodiscard]] std::string_view op_of(std::uint32_t run) const {
    const auto found = runs_.find(run);
    return found == runs_.end() ? std::string_view() : std::string_view(found->second->op);
  }

  // Adds a run to the interval of a key.
  static void add_to(LooseRuns& intervals, std::uint32_t key, std::uint32_t run) {
    LooseRun& one = intervals.try_emplace(key, LooseRun{run, run}).first->second;
    one.first = std::min(one.first, run);
    one.last = std::max(one.last, run);
  }

  // TensorFlow removes an Identity before it joins nodes. Sources come before their readers, so this ends. What is
  // found is kept for all Identities on the way, so that a long row of them is followed once.
  [[nodiscard]] std::uint32_t behind_identities(std::uint32_t run) {
    std::vector<std::uint32_t> way;
    while (op_of(run) == "Identity") {
      const auto known = behind_.find(run);
      const auto found = known == behind_.end() ? sources_.find(run) : sources_.end();
      if (known == behind_.end() && found == sources_.end()) break;
      if (known == behind_.end()) way.push_back(run);
      run = known == behind_.end() ? found->second.front() : known->second;
    }
    for (std::uint32_t identity : way) behind_.emplace(identity, run);
    return run;
  }

  // A variable, a bias or a filter.
  void add_read(const OperandRead& read) {
    const auto source = runs_.find(read.source);
    if (source == runs_.end() || source->second->has_waits) return;
    const bool is_weight = read.input == 1 && lists_op(kJoined, op_of(read.reader));
    if (source->second->op != "ReadVariableOp" && !is_weight) return;
    const std::uint32_t least = least_source(read.reader);
    if (least >= read.source) return;
    LooseRun& one = loose_.try_emplace(read.source, LooseRun{read.source, read.source}).first->second;
    one.first = std::min(one.first, least);
  }

  [[nodiscard]] std::uint32_t least_source(std::uint32_t reader) {
    const auto [at, is_new] = least_sources_.try_emplace(reader, 0);
    if (is_new) at->second = *std::ranges::min_element(sources_[reader]);
    return at->second;
  }

  void add_bias_gradient(const OperandRead& read) {
    LooseRun one{read.reader, read.reader};
    if (const auto found = joined_readers_.find(behind_identities(read.source)); found != joined_readers_.end()) {
      one.first = std::min(one.first, found->second.first);
      one.last = std::max(one.last, found->second.last);
    }
    loose_[read.reader] = one;
  }

  // What reads a loose run is waited for as late as that run, because it may not run before it.
  void add_reader_of_loose(std::uint32_t at) {
    for (std::uint32_t source : sources_[at]) {
      const auto found = loose_.find(source);
      if (found == loose_.end() || found->second.last <= at) continue;
      LooseRun& one = loose_.try_emplace(at, LooseRun{at, at}).first->second;
      one.last = std::max(one.last, found->second.last);
    }
  }

  const std::vector<OperandRead>& reads_;
  std::map<std::uint32_t, const ChainedRun*> runs_;
  RunsByRun sources_;
  std::map<std::uint32_t, std::uint32_t> least_sources_;  // by reader
  std::map<std::uint32_t, std::uint32_t> behind_;         // by Identity: behind_identities()
  LooseRuns joined_readers_;  // by gradient: the first and the last reader that oneDNN joins with a BiasAddGrad
  LooseRuns loose_;
};

// Takes the runs of the keys below `end`, ascending.
std::vector<std::uint32_t> taken_before(std::uint32_t end, RunsByRun& open) {
  std::vector<std::uint32_t> taken;
  for (auto at = open.begin(); at != open.end() && at->first < end; at = open.erase(at)) {
    taken.insert(taken.end(), at->second.begin(), at->second.end());
  }
  std::ranges::sort(taken);
  return taken;
}

}  // namespace

RunChain chain_of_runs(const std::vector<ChainedRun>& runs, const std::vector<OperandRead>& reads) {
  const LooseRuns loose = LooseRunFinder(runs, reads).find();
  RunChain chain;
  RunsByRun open;  // loose runs without a link behind, by LooseRun::last
  for (const ChainedRun& run : runs) {
    if (lists_op(kUnchained, run.op)) continue;
    if (const auto found = loose.find(run.at); found != loose.end()) {
      const auto behind = std::lower_bound(chain.links.begin(), chain.links.end(), found->second.first);
      if (behind != chain.links.begin()) chain.waits.emplace_back(run.at, *std::prev(behind));
      open[found->second.last].push_back(run.at);
      continue;
    }
    if (!chain.links.empty()) chain.waits.emplace_back(run.at, chain.links.back());
    for (std::uint32_t one : taken_before(run.at, open)) chain.waits.emplace_back(run.at, one);
    chain.links.push_back(run.at);
  }
  return chain;
}

}  // namespace lowtide::rewrite_internal
