// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/schedule/orders/heuristics.h"

namespace lowtide::schedule_internal {
namespace {

// The most edges that the searches from all sources look at, which takes about a second. The original needs up to
// nodes x edges for each source.
constexpr std::int64_t kMostEdges = 50'000'000;

constexpr std::uint32_t kNone = UINT32_MAX;

// The nodes by number, and a target behind all of them if several nodes have no readers.
struct SourcePaths {
  std::vector<std::vector<std::uint32_t>> next;  // readers, each once, ascending
  std::vector<std::uint32_t> sources;            // ascending
  std::uint32_t target = 0;
};

SourcePaths paths_in(const Graph& graph) {
  const auto count = static_cast<std::uint32_t>(graph.nodes().size());
  SourcePaths paths{.next = std::vector<std::vector<std::uint32_t>>(count), .sources = {}, .target = count};
  for (NodeId id : all_ids<NodeId>(count)) {
    bool is_source = true;
    for (NodeId before : nodes_before(graph, id)) {
      std::vector<std::uint32_t>& row = paths.next[before.value()];
      if (row.empty() || row.back() != id.value()) row.push_back(id.value());
      is_source = false;
    }
    if (is_source) paths.sources.push_back(id.value());
  }
  std::vector<std::uint32_t> ends;
  for (std::uint32_t at = 0; at < count; ++at) {
    if (paths.next[at].empty()) ends.push_back(at);
  }
  if (ends.size() == 1) {
    paths.target = ends.front();
  } else {
    paths.next.emplace_back();
    for (std::uint32_t end : ends) paths.next[end].push_back(count);
  }
  return paths;
}

// Finds longest paths as the original does: Bellman and Ford's search with a queue, where each edge has length -1. Of
// several longest paths, the result depends on the order of the queue.
class LongestPaths {
 public:
  explicit LongestPaths(const SourcePaths& paths) : paths_(paths) {}

  // Returns the path from the target back to the source; nullopt if all searches together take too long.
  std::optional<std::vector<std::uint32_t>> from(std::uint32_t source) {
    const std::size_t count = paths_.next.size();
    before_.assign(count, kNone);
    length_.assign(count, -1);
    Flags<std::uint32_t> is_queued(count);
    std::deque<std::uint32_t> queue = {source};
    length_[source] = 0;
    is_queued.set(source);
    while (!queue.empty()) {
      const std::uint32_t at = queue.front();
      queue.pop_front();
      is_queued.reset(at);
      if (before_[at] != kNone && is_queued.test(before_[at])) continue;  // it will be reached again
      edges_ += static_cast<std::int64_t>(paths_.next[at].size()) + 1;
      if (edges_ > kMostEdges) return std::nullopt;
      for (std::uint32_t to : paths_.next[at]) {
        if (length_[to] >= length_[at] + 1) continue;
        if (is_queued.insert(to)) queue.push_back(to);
        length_[to] = length_[at] + 1;
        before_[to] = at;
      }
    }
    std::vector<std::uint32_t> path;
    for (std::uint32_t at = paths_.target; at != kNone; at = before_[at]) path.push_back(at);
    return path;
  }

 private:
  const SourcePaths& paths_;
  std::int64_t edges_ = 0;
  std::vector<std::uint32_t> before_;
  std::vector<std::int64_t> length_;
};

// In linear time: on each node, the path goes on to the first reader from which the way to the target is longest.
std::vector<std::vector<std::uint32_t>> shared_paths(const SourcePaths& paths) {
  const std::size_t count = paths.next.size();
  std::vector<std::int64_t> height(count, 0);
  std::vector<std::uint32_t> onward(count, kNone);
  for (std::size_t at = count; at-- > 0;) {
    for (std::uint32_t to : paths.next[at]) {
      if (height[at] > height[to]) continue;
      height[at] = height[to] + 1;
      onward[at] = to;
    }
  }
  std::vector<std::vector<std::uint32_t>> links;  // one path of two nodes per edge is enough for a tree
  Flags<std::uint32_t> is_linked(count);
  for (std::uint32_t source : paths.sources) {
    links.push_back({source});
    for (std::uint32_t at = source; onward[at] != kNone && is_linked.insert(at); at = onward[at]) {
      links.push_back({onward[at], at});
    }
  }
  return links;
}

// The sources in the order of the tree of their paths: from the target, lower subtrees first. If paths part and join
// again, a node is in several subtrees; the first counts.
std::vector<std::uint32_t> sorted_sources(const SourcePaths& paths,
                                          const std::vector<std::vector<std::uint32_t>>& found) {
  const std::size_t count = paths.next.size();
  std::vector<std::vector<std::uint32_t>> below(count);
  for (const std::vector<std::uint32_t>& path : found) {
    for (std::size_t at = path.size(); at-- > 1;) {  // from the source
      std::vector<std::uint32_t>& row = below[path[at - 1]];
      if (std::find(row.begin(), row.end(), path[at]) == row.end()) row.push_back(path[at]);
    }
  }
  std::vector<std::int64_t> height(count, 0);
  for (std::size_t at = 0; at < count; ++at) {
    for (std::uint32_t child : below[at]) height[at] = std::max(height[at], height[child] + 1);
  }
  std::vector<std::uint32_t> sources;
  Flags<std::uint32_t> is_seen(count);
  std::vector<std::uint32_t> stack = {paths.target};
  while (!stack.empty()) {
    const std::uint32_t at = stack.back();
    stack.pop_back();
    if (!is_seen.insert(at)) continue;
    std::vector<std::uint32_t>& row = below[at];
    if (row.empty()) sources.push_back(at);
    std::stable_sort(row.begin(), row.end(), [&](std::uint32_t a, std::uint32_t b) { return height[a] < height[b]; });
    stack.insert(stack.end(), row.rbegin(), row.rend());
  }
  return sources;
}

}  // namespace

std::vector<NodeId> longest_path(const Graph& graph) {
  if (graph.nodes().empty()) return {};
  const SourcePaths paths = paths_in(graph);
  LongestPaths search(paths);
  std::vector<std::vector<std::uint32_t>> found;
  for (std::uint32_t source : paths.sources) {
    std::optional<std::vector<std::uint32_t>> path = search.from(source);
    if (!path) {
      found = shared_paths(paths);
      break;
    }
    found.push_back(*std::move(path));
  }
  std::vector<NodeId> order;
  Flags<std::uint32_t> is_done(paths.next.size());
  for (std::uint32_t source : sorted_sources(paths, found)) {
    std::vector<std::uint32_t> stack = {source};
    while (!stack.empty()) {
      const std::uint32_t at = stack.back();
      const std::size_t before = stack.size();
      for (std::uint32_t to : paths.next[at]) {
        if (to < graph.nodes().size() && !is_done.test(to)) stack.push_back(to);
      }
      if (stack.size() > before) continue;
      stack.pop_back();
      if (is_done.insert(at)) order.emplace_back(at);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace lowtide::schedule_internal
