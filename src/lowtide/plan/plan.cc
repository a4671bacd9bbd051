// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lowtide/base/checked.h"

namespace lowtide {
namespace {

constexpr std::array<std::pair<BufferKind, std::string_view>, 6> kBufferKinds = {{{BufferKind::input, "input"},
                                                                                  {BufferKind::constant, "constant"},
                                                                                  {BufferKind::state, "state"},
                                                                                  {BufferKind::output, "output"},
                                                                                  {BufferKind::temporary, "temporary"},
                                                                                  {BufferKind::scratch, "scratch"}}};

}  // namespace

std::string_view to_string(BufferKind kind) { return kBufferKinds[static_cast<std::size_t>(kind)].second; }

std::optional<BufferKind> buffer_kind_from_string(std::string_view text) {
  for (const auto& [kind, name] : kBufferKinds) {
    if (name == text) return kind;
  }
  return std::nullopt;
}

std::string_view to_string(StepKind kind) { return kind == StepKind::compute ? "compute" : "alias"; }

std::vector<Bytes> load_by_step(const Plan& plan) {
  const std::size_t moments = std::max<std::size_t>(plan.program.size(), 1);
  std::vector<std::int64_t> change(moments + 1, 0);
  for (const Buffer& buffer : plan.buffers) {
    if (!buffer.placement) continue;
    for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
      change[lifespan.begin.index()] += bytes.end - bytes.begin;
      change[plan.program.empty() ? moments : lifespan.end.index()] -= bytes.end - bytes.begin;
    });
  }
  std::vector<Bytes> loads;
  std::int64_t live = 0;
  for (std::size_t moment = 0; moment < moments; ++moment) {
    live = must_add(live, change[moment]);
    loads.emplace_back(live);
  }
  return loads;
}

Bytes arena_bytes(const Plan& plan) {
  Bytes total;
  for (Bytes bytes : plan.arena) total += bytes;
  return total;
}

}  // namespace lowtide
