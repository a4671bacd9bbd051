// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/sharing_order.h"

#include <algorithm>
#include <map>

namespace lowtide::detail {
namespace {

using Sources = std::vector<std::vector<std::uint32_t>>;  // by position: who must have run, by position

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
  std::vector<std::uint32_t> since;  // the last writer, and who has read since
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
                   const std::vector<std::vector<TensorId>>& together) {
  Sources sources(order.size() + 1);
  IdVector<NodeId, std::uint32_t> position(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = static_cast<std::uint32_t>(at + 1);
  for (NodeId id : order) {
    for (TensorId tensor : graph.reads(id)) {
      if (graph.tensor(tensor).producer) sources[position[id]].push_back(position[*graph.tensor(tensor).producer]);
    }
    for (NodeId before : graph.node(id).control_inputs) sources[position[id]].push_back(position[before]);
  }
  for (const std::vector<TensorId>& list : together) add_written_over(graph, position, list, sources);
  return sources;
}

}  // namespace

std::vector<OrderQuestion> not_ordered(const Graph& graph, const std::vector<NodeId>& order,
                                       const std::vector<std::vector<TensorId>>& together,
                                       std::vector<OrderQuestion> questions) {
  const Sources sources = sources_of(graph, order, together);
  std::stable_sort(questions.begin(), questions.end(),
                   [](const OrderQuestion& a, const OrderQuestion& b) { return a.use < b.use; });
  std::vector<OrderQuestion> refuted;
  std::vector<std::uint64_t> reached(order.size() + 1, 0);  // by which uses of the batch
  for (std::size_t begin = 0; begin < questions.size();) {
    std::map<std::uint32_t, std::uint64_t> bit;
    std::size_t end = begin;
    std::uint32_t last = 0;
    for (; end < questions.size(); ++end) {
      if (!bit.contains(questions[end].use) && bit.size() == 64) break;
      bit.try_emplace(questions[end].use, std::uint64_t{1} << bit.size());
      last = std::max(last, questions[end].write);
    }
    const std::uint32_t first = questions[begin].use;
    const auto bit_of = [&](std::uint32_t at) {
      const auto found = bit.find(at);
      return found == bit.end() ? 0 : found->second;
    };
    for (std::uint32_t at = first; at <= last; ++at) {
      reached[at] = 0;
      for (std::uint32_t before : sources[at]) {
        if (before >= first) reached[at] |= reached[before] | bit_of(before);
      }
    }
    for (; begin < end; ++begin) {
      const OrderQuestion& question = questions[begin];
      if (question.write <= question.use || (reached[question.write] & bit_of(question.use)) == 0) {
        refuted.push_back(question);
      }
    }
  }
  return refuted;
}

}  // namespace lowtide::detail
