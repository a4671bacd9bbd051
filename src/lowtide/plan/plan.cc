// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan.h"

#include <array>
#include <utility>

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

Bytes arena_bytes(const Plan& plan) {
  Bytes total;
  for (Bytes bytes : plan.arena) total += bytes;
  return total;
}

}  // namespace lowtide
