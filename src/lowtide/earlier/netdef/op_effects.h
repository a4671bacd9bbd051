// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "lowtide/earlier/netdef/op_view.h"

namespace lowtide::netdef_internal {

// Whether two operators of one type, with equal inputs and arguments, give equal results.
enum class OpEffects : std::uint8_t {
  none,    // they do
  random,  // each draws numbers of its own, and no operator sees that another one ran
  any,     // it may read or change what is not among its blobs, such as a reader or a counter
};

// An operator of Caffe2 that Lowtide does not know, and one with a net inside, may have any effects.
[[nodiscard]] OpEffects effects_of(const OpView& op);

// The argument that says so in a net that was made from a graph (NetOfGraphOptions::for_comparison).
inline constexpr std::string_view kRepeatsArgument = "repeats";
// The order of nodes has no meaning in a graph, so that a node without it is random, and not more.
[[nodiscard]] OpEffects effects_in_graph(const OpView& op);

}  // namespace lowtide::netdef_internal
