// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/graph.h"

#include <algorithm>
#include <array>

namespace lowtide {
namespace {

constexpr std::array<std::pair<Role, std::string_view>, 5> kRoles = {{{Role::input, "input"},
                                                                      {Role::output, "output"},
                                                                      {Role::constant, "constant"},
                                                                      {Role::state, "state"},
                                                                      {Role::temporary, "temporary"}}};

}  // namespace

std::string_view to_string(Role role) { return kRoles[static_cast<std::size_t>(role)].second; }

std::optional<Role> role_from_string(std::string_view text) {
  for (const auto& [role, name] : kRoles) {
    if (name == text) return role;
  }
  return std::nullopt;
}

const std::vector<std::int64_t>* Graph::known_integers(TensorId id) const {
  const auto at = std::lower_bound(known_.begin(), known_.end(), id,
                                   [](const auto& entry, TensorId wanted) { return entry.first < wanted; });
  return at != known_.end() && at->first == id ? &at->second : nullptr;
}

}  // namespace lowtide
