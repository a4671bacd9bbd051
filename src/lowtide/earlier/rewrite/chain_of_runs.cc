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
    for (const OperandRead& read : reads) readers_[behind_identities(read.source)].push_back(read.reader);
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

  // TensorFlow removes an Identity before it joins nodes. Sources come before their readers, so this ends.
  [[nodiscard]] std::uint32_t behind_identities(std::uint32_t run) const {
    while (op_of(run) == "Identity") {
      const auto found = sources_.find(run);
      if (found == sources_.end() || found->second.empty()) break;
      run = found->second.front();
    }
    return run;
  }

  // A variable, a bias or a filter.
  void add_read(const OperandRead& read) {
    const auto source = runs_.find(read.source);
    if (source == runs_.end() || source->second->has_waits) return;
    const bool is_weight = read.input == 1 && lists_op(kJoined, op_of(read.reader));
    if (source->second->op != "ReadVariableOp" && !is_weight) return;
    for (std::uint32_t other : sources_[read.reader]) {
      if (other >= read.source) continue;
      LooseRun& one = loose_.try_emplace(read.source, LooseRun{read.source, read.source}).first->second;
      one.first = std::min(one.first, other);
    }
  }

  void add_bias_gradient(const OperandRead& read) {
    LooseRun one{read.reader, read.reader};
    for (std::uint32_t reader : readers_[behind_identities(read.source)]) {
      if (op_of(reader).find("BackpropFilter") == std::string_view::npos && op_of(reader) != "MatMul") continue;
      one.first = std::min(one.first, reader);
      one.last = std::max(one.last, reader);
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
  RunsByRun readers_;
  LooseRuns loose_;
};

}  // namespace

RunChain chain_of_runs(const std::vector<ChainedRun>& runs, const std::vector<OperandRead>& reads) {
  const LooseRuns loose = LooseRunFinder(runs, reads).find();
  RunChain chain;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      open;  // loose runs that no link waits for yet, by LooseRun::last
  for (const ChainedRun& run : runs) {
    if (lists_op(kUnchained, run.op)) continue;
    if (const auto found = loose.find(run.at); found != loose.end()) {
      const auto behind = std::lower_bound(chain.links.begin(), chain.links.end(), found->second.first);
      if (behind != chain.links.begin()) chain.waits.emplace_back(run.at, *std::prev(behind));
      open.emplace_back(found->second.last, run.at);
      continue;
    }
    if (!chain.links.empty()) chain.waits.emplace_back(run.at, chain.links.back());
    for (const auto& [last, one] : open) {
      if (last < run.at) chain.waits.emplace_back(run.at, one);
    }
    std::erase_if(open, [&](const auto& entry) { return entry.first < run.at; });
    chain.links.push_back(run.at);
  }
  return chain;
}

}  // namespace lowtide::rewrite_internal
