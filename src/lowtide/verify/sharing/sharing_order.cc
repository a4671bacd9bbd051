// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/sharing/sharing_order.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace lowtide::verify_internal {
namespace {

using Sources = std::vector<std::vector<std::uint32_t>>;  // by position: the positions that must have run

void add_written_over(const Graph& graph, const IdVector<NodeId, std::uint32_t>& position,
                      const std::vector<TensorId>& list, Sources& sources) {
  struct Use {
    std::uint32_t at;
    bool writes;
  };
  std::vector<Use> uses;
  for (TensorId id : list) {
    if (graph.tensor(id).producer) uses.push_back({position[*graph.tensor(id).producer], true});
    for (NodeId reader : graph.readers(id)) uses.push_back({position[reader], false});
  }
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.at < b.at; });
  std::vector<std::uint32_t> since;  // the last writer, and the readers since then
  for (std::size_t at = 0; at < uses.size();) {
    const std::uint32_t here = uses[at].at;
    bool writes = false;
    for (; at < uses.size() && uses[at].at == here; ++at) writes |= uses[at].writes;
    if (writes) {
      for (std::uint32_t before : since) sources[here].push_back(before);
      since.clear();
    }
    since.push_back(here);
  }
}

Sources sources_of(const Graph& graph, const std::vector<NodeId>& order,
                   const std::vector<std::vector<TensorId>>& same_place) {
  Sources sources(order.size() + 1);
  IdVector<NodeId, std::uint32_t> position(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = static_cast<std::uint32_t>(at + 1);
  for (NodeId id : order) {
    for (TensorId tensor : graph.reads(id)) {
      if (graph.tensor(tensor).producer) sources[position[id]].push_back(position[*graph.tensor(tensor).producer]);
    }
    for (NodeId before : graph.node(id).control_inputs) sources[position[id]].push_back(position[before]);
  }
  for (const std::vector<TensorId>& list : same_place) add_written_over(graph, position, list, sources);
  return sources;
}

// Within one class of questions, the distances from use to write differ by less than a factor of 2.
int length_class(const OrderQuestion& question) {
  return static_cast<int>(std::bit_width(question.write > question.use ? question.write - question.use : 0U));
}

// Paths that begin at up to 64 uses.
class Paths {
 public:
  explicit Paths(const Sources& sources) : sources_(sources), nodes_(sources.size()) {}

  // Takes questions of one class from `begin` on while there are bits for their uses. Returns the end.
  std::size_t follow(const std::vector<OrderQuestion>& questions, const std::vector<std::size_t>& row,
                     std::size_t begin) {
    ++batch_;
    uses_ = 0;
    std::uint32_t next = 0;  // all before it have been looked at
    std::size_t end = begin;
    const int length = length_class(questions[row[begin]]);
    for (; end < row.size(); ++end) {
      const OrderQuestion& question = questions[row[end]];
      if (length_class(question) != length) break;
      Node& use = nodes_[question.use];
      if (use.batch_as_use == batch_) continue;
      if (uses_ == 64) break;
      use.batch_as_use = batch_;
      use.bit = std::uint64_t{1} << uses_++;
    }
    // Questions are sorted by use, so the ranges from use to write are sorted by their begin.
    for (std::size_t at = begin; at < end; ++at) {
      const OrderQuestion& question = questions[row[at]];
      for (std::uint32_t node = std::max(next, question.use); node <= question.write; ++node) reach(node);
      next = std::max(next, question.write + 1);
    }
    return end;
  }

  // Requires: the question was in the last batch.
  [[nodiscard]] bool has_path(const OrderQuestion& question) const {
    return question.write > question.use && (nodes_[question.write].reached & nodes_[question.use].bit) != 0;
  }
  [[nodiscard]] std::int64_t visited() const { return visited_; }

 private:
  struct Node {
    std::uint64_t reached = 0;  // bits of the uses that lead here, in the batch `batch`
    std::uint64_t bit = 0;      // of this node, if it is one of the uses
    std::uint32_t batch = 0;
    std::uint32_t batch_as_use = 0;
  };

  void reach(std::uint32_t at) {
    nodes_[at].batch = batch_;
    nodes_[at].reached = 0;
    for (std::uint32_t before : sources_[at]) {
      ++visited_;
      const Node& one = nodes_[before];
      if (one.batch == batch_) nodes_[at].reached |= one.reached;
      if (one.batch_as_use == batch_) nodes_[at].reached |= one.bit;
    }
    ++visited_;
  }

  const Sources& sources_;
  std::vector<Node> nodes_;  // by position
  std::uint32_t batch_ = 0;
  int uses_ = 0;
  std::int64_t visited_ = 0;
};

}  // namespace

std::vector<OrderQuestion> not_ordered(const Graph& graph, const std::vector<NodeId>& order,
                                       const std::vector<std::vector<TensorId>>& same_place,
                                       std::vector<OrderQuestion> questions, std::int64_t* work) {
  std::stable_sort(questions.begin(), questions.end(),
                   [](const OrderQuestion& a, const OrderQuestion& b) { return a.use < b.use; });
  const Sources sources = sources_of(graph, order, same_place);
  Paths paths(sources);
  std::vector<std::size_t> by_length(questions.size());
  std::iota(by_length.begin(), by_length.end(), std::size_t{0});
  std::stable_sort(by_length.begin(), by_length.end(), [&](std::size_t a, std::size_t b) {
    return length_class(questions[a]) < length_class(questions[b]);
  });
  std::vector<char> is_refuted(questions.size(), 0);
  for (std::size_t begin = 0; begin < by_length.size();) {
    const std::size_t end = paths.follow(questions, by_length, begin);
    for (; begin < end; ++begin) {
      const OrderQuestion& question = questions[by_length[begin]];
      is_refuted[by_length[begin]] = static_cast<char>(!paths.has_path(question));
    }
  }
  std::vector<OrderQuestion> refuted;
  for (std::size_t at = 0; at < questions.size(); ++at) {
    if (is_refuted[at] != 0) refuted.push_back(questions[at]);
  }
  if (work != nullptr) *work = paths.visited();
  return refuted;
}

}  // namespace lowtide::verify_internal
