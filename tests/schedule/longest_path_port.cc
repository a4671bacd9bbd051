// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/schedule/longest_path_port.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace lowtide::testing {
namespace {

class PathPort {
 public:
  explicit PathPort(const PortedReaders& readers) : count_(static_cast<int>(readers.size())) {
    for (int at = 0; at < count_; ++at) next_[at] = readers[static_cast<std::size_t>(at)];
    add_target();
  }

  // nullopt if the original's assertion fails.
  std::optional<std::vector<int>> order() {
    for (int source : sources_) add_path(source);
    std::vector<int> leaves;
    collect_leaves(target_, leaves);
    std::vector<int> sorted = leaves;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != sources_) return std::nullopt;
    std::vector<int> post;
    for (int leaf : leaves) finish(leaf, post);
    std::reverse(post.begin(), post.end());
    return post;
  }

 private:
  void add_target() {
    std::vector<int> ends;
    std::set<int> has_parent;
    for (const auto& [from, row] : next_) {
      if (row.empty()) ends.push_back(from);
      has_parent.insert(row.begin(), row.end());
    }
    for (int at = 0; at < count_; ++at) {
      if (!has_parent.contains(at)) sources_.push_back(at);
    }
    target_ = ends.front();
    if (ends.size() == 1) return;
    target_ = count_;
    for (int end : ends) next_[end].push_back(target_);
    next_[target_] = {};
  }

  void add_path(int source) {
    std::map<int, int> distance = {{source, 0}};
    std::map<int, std::optional<int>> parent = {{source, std::nullopt}};
    std::deque<int> queue = {source};
    std::set<int> queued = {source};
    while (!queue.empty()) {
      const int at = queue.front();
      queue.pop_front();
      queued.erase(at);
      if (parent[at] && queued.contains(*parent[at])) continue;
      for (int to : next_[at]) {
        if (distance.contains(to) && distance[at] - 1 >= distance[to]) continue;
        if (queued.insert(to).second) queue.push_back(to);
        distance[to] = distance[at] - 1;
        parent[to] = at;
      }
    }
    std::vector<int> path = {target_};
    while (parent[path.back()]) path.push_back(*parent[path.back()]);
    for (std::size_t at = path.size() - 1; at > 0; --at) {
      std::vector<int>& row = children_[path[at - 1]];
      if (std::count(row.begin(), row.end(), path[at]) == 0) row.push_back(path[at]);
    }
  }

  int height(int at) {
    int most = -1;
    for (int child : children_[at]) most = std::max(most, height(child));
    return most + 1;
  }

  void collect_leaves(int at, std::vector<int>& leaves) {
    std::vector<int> row = children_[at];
    if (row.empty()) leaves.push_back(at);
    std::stable_sort(row.begin(), row.end(), [&](int a, int b) { return height(a) < height(b); });
    for (int child : row) collect_leaves(child, leaves);
  }

  // The last reader comes first.
  void finish(int at, std::vector<int>& post) {
    if (at == count_ || !done_.insert(at).second) return;
    for (auto to = next_[at].rbegin(); to != next_[at].rend(); ++to) finish(*to, post);
    post.push_back(at);
  }

  int count_;
  int target_ = 0;
  std::map<int, std::vector<int>> next_;
  std::vector<int> sources_;
  std::map<int, std::vector<int>> children_;
  std::set<int> done_;
};

}  // namespace

std::optional<std::vector<int>> ported_longest_path(const PortedReaders& readers) { return PathPort(readers).order(); }

}  // namespace lowtide::testing
