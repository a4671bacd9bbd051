// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/conflict_columns.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "lowtide/base/disjoint_sets.h"

namespace lowtide::detail {
namespace {

using Column = std::vector<PackingId>;

constexpr std::int64_t kMostWork = 30'000'000;
constexpr std::int64_t kMostEntries = 400'000;  // buffers of all columns together: pieces of the picture

class ColumnMaker {
 public:
  explicit ColumnMaker(const PackingProblem& problem) : near_(problem.buffers.size()), is_covered_(near_.size()) {
    DisjointSets<PackingId> groups(near_.size());  // these may share bytes whatever pairs say
    for (const PackingColocation& pair : problem.colocations) groups.join(pair.first, pair.second);
    add_pairs(*problem.conflicts, groups);
    for (PackingId id : all_ids<PackingId>(near_.size())) {
      std::sort(near_[id].begin(), near_[id].end());
      near_[id].erase(std::unique(near_[id].begin(), near_[id].end()), near_[id].end());
      is_covered_[id].resize(near_[id].size(), 0);
    }
  }

  // False: too much to do.
  bool make(const std::vector<PackingId>& witness) {
    if (is_clique(witness)) add_around(witness);
    for (PackingId id : all_ids<PackingId>(near_.size())) {
      if (near_[id].empty()) columns_.push_back({id});
      for (std::size_t at = near_[id].size(); at-- > 0;) {
        if (near_[id][at] < id && is_covered_[id][at] == 0) add_around({near_[id][at], id});
        if (work_ > kMostWork || entries_ > kMostEntries) return false;
      }
    }
    std::sort(columns_.begin(), columns_.end(), [](const Column& a, const Column& b) {
      return std::tie(a.back(), a.front(), a) < std::tie(b.back(), b.front(), b);
    });
    return true;
  }

  std::vector<Column> take_columns() { return std::move(columns_); }

 private:
  void add_pairs(const std::vector<PackingPair>& pairs, DisjointSets<PackingId>& groups) {
    for (const PackingPair& pair : pairs) {
      if (groups.find(pair.first) == groups.find(pair.second)) continue;
      near_[pair.first].push_back(pair.second);
      near_[pair.second].push_back(pair.first);
    }
  }

  [[nodiscard]] bool are_near(PackingId a, PackingId b) const {
    return std::binary_search(near_[a].begin(), near_[a].end(), b);
  }

  [[nodiscard]] bool is_clique(const std::vector<PackingId>& ids) const {
    for (std::size_t at = 0; at < ids.size(); ++at) {
      for (std::size_t other = 0; other < at; ++other) {
        if (!are_near(ids[at], ids[other])) return false;
      }
    }
    return ids.size() > 1;
  }

  // A largest clique that holds the given one. Who is before its last comes first, from the nearest back: where ids
  // follow time, these are those that live when the last begins.
  void add_around(Column clique) {
    const PackingId last = *std::max_element(clique.begin(), clique.end());
    Column open = near_[clique.front()];
    for (PackingId id : clique) {
      std::erase_if(open, [&](PackingId other) { return other == id || !are_near(id, other); });
    }
    std::sort(open.begin(), open.end(), [&](PackingId a, PackingId b) {
      if ((a < last) != (b < last)) return a < last;
      return a < last ? a > b : a < b;
    });
    work_ += static_cast<std::int64_t>(near_[clique.front()].size() * clique.size());
    while (!open.empty()) {
      const PackingId next = open.front();
      clique.push_back(next);
      work_ += static_cast<std::int64_t>(open.size());
      std::erase_if(open, [&](PackingId other) { return other == next || !are_near(next, other); });
    }
    std::sort(clique.begin(), clique.end());
    cover(clique);
    columns_.push_back(std::move(clique));
  }

  void cover(const Column& clique) {
    entries_ += static_cast<std::int64_t>(clique.size());
    work_ += static_cast<std::int64_t>(clique.size() * clique.size());
    for (PackingId id : clique) {
      for (PackingId other : clique) {
        if (other >= id) break;
        const auto at = std::lower_bound(near_[id].begin(), near_[id].end(), other) - near_[id].begin();
        is_covered_[id][static_cast<std::size_t>(at)] = 1;
      }
    }
  }

  IdVector<PackingId, Column> near_;                   // in conflict with each, by id
  IdVector<PackingId, std::vector<char>> is_covered_;  // of each of these below it: whether a column has both
  std::vector<Column> columns_;
  std::int64_t work_ = 0;
  std::int64_t entries_ = 0;
};

}  // namespace

ConflictColumns conflict_columns(const PackingProblem& problem, const std::vector<PackingId>& witness) {
  ConflictColumns out;
  ColumnMaker maker(problem);
  out.are_cliques = maker.make(witness);
  if (!out.are_cliques) {
    for (PackingId id : all_ids<PackingId>(problem.buffers.size())) out.columns.push_back({id});
    return out;
  }
  out.columns = maker.take_columns();
  Column wanted = witness;
  std::sort(wanted.begin(), wanted.end());
  for (std::size_t at = 0; at < out.columns.size() && !wanted.empty() && !out.witness; ++at) {
    const Column& column = out.columns[at];
    if (std::includes(column.begin(), column.end(), wanted.begin(), wanted.end())) out.witness = at;
  }
  return out;
}

PackingProblem with_columns_as_time(const PackingProblem& problem, const ConflictColumns& columns) {
  PackingProblem drawn = problem;
  drawn.conflicts.reset();
  for (PackingBuffer& buffer : drawn.buffers) {
    buffer.lifespan = {-1, -1};
    buffer.gaps.clear();
  }
  for (std::size_t at = 0; at < columns.columns.size(); ++at) {
    const auto time = static_cast<std::int64_t>(at);
    for (PackingId id : columns.columns[at]) {
      PackingBuffer& buffer = drawn.buffers[id];
      if (buffer.lifespan.begin < 0) buffer.lifespan = {time, time};
      if (buffer.lifespan.end < time) buffer.gaps.push_back({buffer.lifespan.end, time});
      buffer.lifespan.end = time + 1;
    }
  }
  return drawn;
}

}  // namespace lowtide::detail
