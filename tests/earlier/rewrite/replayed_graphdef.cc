// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "replayed_graphdef.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace lowtide::testing {
namespace {

enum class Engine : std::uint8_t { compute, out, in };

class Replay {
 public:
  Replay(const std::vector<DefNode>& nodes, const Cluster& cluster, const RunEnds& ends, const TransferLink& link)
      : nodes_(nodes), costed_(cost_nodes(nodes, cluster, ends).value()), link_(link) {
    for (std::size_t at = 0; at < costed_.size(); ++at) by_node_[costed_[at].node] = at;
    ends_.resize(costed_.size());
    for (const CostedNodeOfRun& one : costed_) {
      if (one.device != 0) throw std::runtime_error("another device");
      resident_ += one.held_bytes + (one.is_resident ? one.bytes : 0);
    }
  }

  ReplayedGraphDef run() {
    std::size_t left = 0;
    for (std::size_t at = 0; at < costed_.size(); ++at) {
      if (costed_[at].is_resident) {
        ends_[at] = 0;
      } else {
        ++left;
      }
    }
    for (; left > 0; --left) start_next();
    result_.peak_bytes = peak();
    for (const std::optional<std::int64_t>& end : ends_) {
      result_.nanoseconds = std::max(result_.nanoseconds, *end);
    }
    return result_;
  }

 private:
  [[nodiscard]] const DefNode& node_of(std::size_t at) const { return nodes_[costed_[at].node]; }

  [[nodiscard]] Engine engine_of(std::size_t at) const {
    if (node_of(at).op == "_CopyFromGpuToHost") return Engine::out;
    return node_of(at).op == "_CopyFromHostToGpu" ? Engine::in : Engine::compute;
  }

  [[nodiscard]] std::int64_t bytes_of(std::size_t at) const {
    return engine_of(at) == Engine::out ? 0 : costed_[at].bytes;
  }

  [[nodiscard]] std::int64_t duration_of(std::size_t at) const {
    if (engine_of(at) == Engine::compute) return costed_[at].nanoseconds;
    const double bytes = static_cast<double>(costed_[at].bytes);
    const double moved = bytes * 1e9 / static_cast<double>(link_.bytes_per_second);
    const auto whole = static_cast<std::int64_t>(moved);
    return link_.latency_nanoseconds + whole + (moved > static_cast<double>(whole) ? 1 : 0);
  }

  // When all inputs have ended; nullopt: not all have begun.
  [[nodiscard]] std::optional<std::int64_t> ready_at(std::size_t at) const {
    std::int64_t ready = 0;
    for (const std::vector<std::uint32_t>* list : {&costed_[at].reads, &costed_[at].waits}) {
      for (std::uint32_t source : *list) {
        const std::optional<std::int64_t>& end = ends_[by_node_.at(source)];
        if (!end) return std::nullopt;
        ready = std::max(ready, *end);
      }
    }
    return ready;
  }

  // Starts the one that begins first among all that could begin now or later.
  void start_next() {
    std::optional<std::tuple<std::int64_t, std::int64_t, std::size_t>> next;  // begin, ready, node
    for (std::size_t at = 0; at < costed_.size(); ++at) {
      if (ends_[at]) continue;
      const std::optional<std::int64_t> ready = ready_at(at);
      if (!ready) continue;
      const std::int64_t begin = std::max(*ready, free_at_[static_cast<std::size_t>(engine_of(at))]);
      if (!next || std::tie(begin, *ready) < std::tie(std::get<0>(*next), std::get<1>(*next))) {
        next = {begin, *ready, at};
      }
    }
    if (!next) throw std::runtime_error("a node waits for itself");
    const auto [begin, ready, at] = *next;
    const Engine engine = engine_of(at);
    ends_[at] = begin + duration_of(at);
    free_at_[static_cast<std::size_t>(engine)] = *ends_[at];
    begins_[at] = begin;
    result_.outs += engine == Engine::out ? 1 : 0;
    result_.ins += engine == Engine::in ? 1 : 0;
  }

  // What ends at a time makes room for what begins then, unless the node itself takes no time.
  [[nodiscard]] std::int64_t peak() const {
    std::vector<std::int64_t> last(costed_.size(), 0);
    for (std::size_t at = 0; at < costed_.size(); ++at) {
      if (costed_[at].is_resident) continue;
      last[at] = std::max(last[at], *ends_[at]);
      for (std::uint32_t source : costed_[at].reads) {
        const std::size_t from = by_node_.at(source);
        last[from] = std::max(last[from], *ends_[at]);
      }
    }
    std::map<std::int64_t, std::int64_t> changes;
    for (const auto& [at, begin] : begins_) {
      const std::int64_t end = costed_[at].is_fetched ? INT64_MAX : std::max(last[at], begin + 1);
      changes[begin] += bytes_of(at);
      changes[end] -= bytes_of(at);
    }
    std::int64_t live = resident_;
    std::int64_t most = live;
    for (const auto& [time, change] : changes) {
      live += change;
      most = std::max(most, live);
    }
    return most;
  }

  const std::vector<DefNode>& nodes_;
  std::vector<CostedNodeOfRun> costed_;
  TransferLink link_;
  std::map<std::uint32_t, std::size_t> by_node_;
  std::vector<std::optional<std::int64_t>> ends_;  // of nodes that have begun
  std::map<std::size_t, std::int64_t> begins_;
  std::array<std::int64_t, 3> free_at_ = {};  // by engine
  std::int64_t resident_ = 0;
  ReplayedGraphDef result_;
};

bool is_sum(const DefNode& node) { return node.op == "AddN" || node.op == "AddV2"; }

}  // namespace

ReplayedGraphDef replay_graphdef(const std::vector<DefNode>& nodes, const Cluster& cluster, const RunEnds& ends,
                                 const TransferLink& link) {
  return Replay(nodes, cluster, ends, link).run();
}

Meanings::Output Meanings::output_of(const DefNode& node, std::vector<Output> operands) {
  const auto number = [&](const std::string& what, const std::vector<Output>& of) {
    return numbers_.try_emplace({what, of}, static_cast<int>(numbers_.size())).first->second;
  };
  if (node.op.starts_with("_Copy")) return operands.at(0);
  if (operands.empty()) return {number(node.op + " " + node.name, {}), 0};
  if (!is_sum(node)) return {number(node.op, operands), 0};
  std::vector<Output> all;
  for (const Output& one : operands) {
    const auto inner = operands_of_sums_.find(one.first);
    if (inner == operands_of_sums_.end()) {
      all.push_back(one);
    } else {
      all.insert(all.end(), inner->second.begin(), inner->second.end());
    }
  }
  std::ranges::sort(all);
  const int sum = number("sum", all);
  operands_of_sums_[sum] = std::move(all);
  return {sum, 0};
}

Meanings::Output Meanings::of(const std::vector<DefNode>& nodes, const std::string& name) {
  std::map<std::string, Output, std::less<>> known;
  // Each pass finds at least one more, so there are as many passes as nodes.
  for (std::size_t pass = 0; pass < nodes.size() && !known.contains(name); ++pass) {
    for (const DefNode& node : nodes) {
      std::vector<Output> operands;
      bool is_ready = !known.contains(node.name);
      for (const std::string& input : node.inputs) {
        const DefInput source = read_input(input);
        if (source.is_control) continue;
        const auto found = known.find(source.node);
        is_ready = is_ready && found != known.end();
        if (!is_ready) break;
        operands.emplace_back(found->second.first, found->second.second + source.port);
      }
      if (is_ready) known[node.name] = output_of(node, std::move(operands));
    }
  }
  return known.at(name);
}

}  // namespace lowtide::testing
