// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <vector>

#include "lowtide/verify/bounds/order_count.h"

namespace lowtide::verify_internal {

// Nodes of a count that run one right after another. Chains have indices of their own, in topological order.
struct Chain {
  using Index = OrderCount::Index;

  std::vector<Index> nodes;   // in the order in which they run
  std::vector<Index> before;  // chains that must have run; ascending
};

// Each node as a chain of its own.
[[nodiscard]] std::vector<Chain> single_chains(const OrderCount& count);

// Joins two chains if some best order runs one right after the other. Joining does not change whether some order stays
// within a limit. There are two rules for a chain `a` and a chain `b` that comes after it:
//
//   late:  everything that comes after `a`, except `b`, comes after `b`, so `a` may run right before `b`. Consider the
//          largest set that can have run before `a`: all chains that do not come after it. At that set, `a` must free
//          no bytes, and no load in `a` may exceed the largest load in `b`.
//   early: everything that comes before `b`, except `a`, comes before `a`, so `b` may run right after `a`. Consider the
//          smallest set that can have run before `a`: all chains that come before it. At that set, `b` must add no
//          bytes after `a`, and no load in `b` may exceed the largest load in `a`.
//
// One set is enough for the following reason. A piece is live if some of its users have run and others have not. So the
// live bytes are a sum of cuts, which is submodular: what a chain adds can only fall as more has run. Therefore a chain
// that frees nothing at the largest set frees nothing anywhere, and moving it later raises no load between its old and
// its new place. An operand that the moved chain still needs cannot be overwritten by a step there, but the bytes are
// then among those that the chain would have freed. As more has run, the excess of a step of `a` over the live bytes
// after `a` only rises, because more dies in the step. The excess of a step of `b` over the live bytes before `b` only
// falls. The two are compared at the set where they are closest. The early rule is the late one for time reversed.
//
// O(rounds x (nodes + edges + users of touched pieces)) with few rounds; nodes^2 / 8 bytes. Graphs of more than 20,000
// nodes are returned as single chains.
[[nodiscard]] std::vector<Chain> joined_chains(const OrderCount& count);

// The same chains for turned(count).
[[nodiscard]] std::vector<Chain> turned(const std::vector<Chain>& chains, std::size_t nodes);

// The numbers k for which the first k chains have run at some time in every order; from 0 to chains.size(), ascending.
// They lie right before and right after each separator, which is a chain that is comparable with all others.
[[nodiscard]] std::vector<Chain::Index> cuts_of(const std::vector<Chain>& chains);

}  // namespace lowtide::verify_internal
