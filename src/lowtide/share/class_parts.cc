// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/share/class_parts.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "lowtide/base/check.h"

namespace lowtide::share_internal {
namespace {

// The begin or the end of a cover.
struct Edge {
  std::int64_t at = 0;
  bool begins = false;
  std::size_t cover = 0;
};

// Appends a part, or extends the last one if both have the same lifespan.
void append(std::vector<BufferPart>& parts, std::int64_t size, const Lifespan& lifespan) {
  if (size == 0) return;
  if (!parts.empty() && parts.back().lifespan == lifespan) {
    parts.back().size += Bytes(size);
  } else {
    parts.push_back({Bytes(size), lifespan});
  }
}

}  // namespace

std::vector<BufferPart> class_parts(const std::vector<Cover>& covers, Bytes size, Bytes alignment) {
  std::vector<Edge> edges;
  for (std::size_t index = 0; index < covers.size(); ++index) {
    Interval<std::int64_t> bytes = covers[index].bytes;
    if (bytes.empty()) bytes.begin = std::min(bytes.begin, size.count() - 1);
    bytes.end = std::max(bytes.end, bytes.begin + 1);
    edges.push_back({bytes.begin / alignment.count() * alignment.count(), true, index});
    edges.push_back({round_up(Bytes(bytes.end), alignment).count(), false, index});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::vector<BufferPart> parts;
  std::multiset<StepId> begins;
  std::multiset<StepId> ends;
  std::int64_t from = 0;
  for (const Edge& edge : edges) {
    if (edge.at > from) {
      LOWTIDE_CHECK(!begins.empty(), "every unit of a buffer belongs to a tensor");
      append(parts, edge.at - from, {*begins.begin(), *ends.rbegin()});
      from = edge.at;
    }
    const Lifespan& lifespan = covers[edge.cover].lifespan;
    if (edge.begins) {
      begins.insert(lifespan.begin);
      ends.insert(lifespan.end);
    } else {
      begins.erase(begins.find(lifespan.begin));
      ends.erase(ends.find(lifespan.end));
    }
  }
  if (parts.size() == 1) parts.clear();
  return parts;
}

}  // namespace lowtide::share_internal
