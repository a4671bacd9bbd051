// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/exact/cover_problem.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "lowtide/allocate/problem/align.h"
#include "lowtide/allocate/problem/join_touching.h"

namespace lowtide::allocate_internal {
namespace {

void number_kinds(CoverProblem& problem) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::vector<CliqueId>>, CoverProblem::KindId> kinds;
  for (SearchBuffer at : all_ids<SearchBuffer>(problem.buffers.size())) {
    CoverProblem::Buffer& buffer = problem.buffers[at];
    const std::span<const CliqueId> cliques = problem.cliques_of(at);
    const CoverProblem::KindId next(static_cast<std::uint32_t>(kinds.size()));
    buffer.kind =
        kinds.emplace(std::tuple(buffer.size, buffer.alignment, std::vector(cliques.begin(), cliques.end())), next)
            .first->second;
  }
}

}  // namespace

CoverProblem cover_problem(const CompressedProblem& problem, const CliqueCover& cover) {
  CoverProblem out;
  if (!problem.movable.empty()) {
    out.unit = problem.buffers[problem.movable.front()].alignment();
    for (PackingId id : problem.movable) out.unit = std::min(out.unit, problem.buffers[id].alignment());
  }
  IdVector<PackingId, std::optional<SearchBuffer>> search_buffer(problem.buffers.size());
  for (PackingId id : problem.movable) {
    const CompressedProblem::Buffer& buffer = problem.buffers[id];
    search_buffer[id] =
        out.buffers.push_back({buffer.size, aligned_up(buffer.size, out.unit), buffer.alignment(), {}, id});
  }
  const IdVector<PackingId, std::int64_t> fixed_offsets = problem.least_offsets();
  out.blocked_in = IdVector<CliqueId, std::vector<AddressRange>>(cover.cliques());
  for (CliqueId clique : all_ids<CliqueId>(cover.cliques())) {
    std::vector<SearchBuffer> members;
    for (PackingId id : cover.members(clique)) {
      if (search_buffer[id]) {
        members.push_back(*search_buffer[id]);
      } else {
        out.blocked_in[clique].push_back({fixed_offsets[id], fixed_offsets[id] + problem.buffers[id].size});
      }
    }
    out.clique_members.append(members);
    join_touching(out.blocked_in[clique]);
  }
  out.buffer_cliques = IdLists<SearchBuffer, CliqueId>(out.buffers.size(), [&](const auto& visit) {
    for (CliqueId clique : all_ids<CliqueId>(cover.cliques())) {
      for (SearchBuffer buffer : out.members(clique)) visit(buffer, clique);
    }
  });
  out.blocked_for = IdVector<SearchBuffer, std::vector<AddressRange>>(out.buffers.size());
  for (SearchBuffer buffer : all_ids<SearchBuffer>(out.buffers.size())) {
    std::vector<AddressRange>& blocked_for = out.blocked_for[buffer];
    for (CliqueId clique : out.cliques_of(buffer)) {
      const std::vector<AddressRange>& blocked = out.blocked_in[clique];
      blocked_for.insert(blocked_for.end(), blocked.begin(), blocked.end());
    }
    join_touching(blocked_for);
  }
  number_kinds(out);
  return out;
}

}  // namespace lowtide::allocate_internal
