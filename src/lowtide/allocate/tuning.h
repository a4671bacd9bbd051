// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The numbers that the strategies were tuned with, in one place. None of them changes whether an answer is valid or a
// bound is proven. Each comment says what the number trades, and what a larger one costs. Effort is counted in pairs of
// buffers that are examined, 10 to 30 ns each. docs/algorithms/packing.md has the measurements. A "share" of n means
// 1/n.
//
// Constants that a proof rests on (ranges of prices, keys, ids) are not here. They are beside the proof.
namespace lowtide::allocate_internal::tuning {

// Memory and size limits -------------------------------------------------------------------------------------------

// Pairs up to which a problem gets a conflict graph, which makes ejection fast: 128 MB at this limit.
inline constexpr std::int64_t kGraphMostPairs = 16'000'000;
// Problems with more buffers get a graph only if they have few pairs per buffer, because ejection moves few of them.
inline constexpr std::size_t kGraphManyBuffers = 50'000;
// Pairs per buffer up to which such a large problem gets a graph: 100 bytes per buffer.
inline constexpr std::int64_t kGraphMostPairsPerBuffer = 12;
// Members of all cliques of a cover. A larger cover takes more memory than a search over it can use.
inline constexpr std::size_t kCoverMostMembers = 1'000'000;
// Buffers of a relation for which cliques are grown. The table has a bit per pair of buffers: 8 MiB at this limit.
inline constexpr std::size_t kCoverMostPaired = 8192;

// Phases and shares ------------------------------------------------------------------------------------------------

// Effort of the first phase, and effort per pair if that is more. More delays the searches after the greedy orders.
inline constexpr std::int64_t kFirstPhase = 500'000;
inline constexpr std::int64_t kFirstPhasePerPair = 4;
// If all strategies give up early, phases end when the limit of one is this many times the effort. More only adds idle
// phases.
inline constexpr std::int64_t kPhasesBeyondEffort = 8;
// Phases from this limit on also search plain lifespans as sets of cliques, where a decision costs ten times as much.
inline constexpr std::int64_t kFirstPhaseAsSets = 200'000'000;
// Effort for the bytes within one unit of alignment. Only a caller that asks for the exact minimum needs them.
inline constexpr std::int64_t kWithinUnitEffort = 12'000'000;

// Shares of the limit of a phase. A larger share helps the problems that its strategy solves, and delays all others.
// Greedy orders: enough for most of them in the first phase, and for one at a time later.
inline constexpr std::int64_t kGreedyFirstShare = 2;
inline constexpr std::int64_t kGreedyShare = 8;
// Effort of a run from which the late greedy orders are tried, too. They win only on large problems.
inline constexpr std::int64_t kGreedyLateLimit = 500'000;
// The exact search for the target: a share up to an effort, then that effort and a small share. A target that is not
// found soon is hard or impossible.
inline constexpr std::int64_t kSearchTargetShare = 2;
inline constexpr std::int64_t kSearchTargetEffort = 4'000'000;
inline constexpr std::int64_t kSearchTargetLateShare = 32;
// The search over sets of cliques for the target; the exact search for heights above it.
inline constexpr std::int64_t kSetsShare = 4;
inline constexpr std::int64_t kSearchBetweenShare = 2;
// Large buffers first: the share of the strategy, and what its inner run gets of that share.
inline constexpr std::int64_t kLargeFirstShare = 2;
inline constexpr std::int64_t kLargeFirstInnerShare = 2;
// The busiest moments first: the share of the strategy, and what each of its two parts gets of that share.
inline constexpr std::int64_t kBusiestFirstShare = 2;
inline constexpr std::int64_t kBusiestFirstPartShare = 4;
// Ejection, if there is an exact search. Without one it gets the whole limit.
inline constexpr std::int64_t kEjectionShare = 4;
// The same if a capacity is given. On A-K, the exact search then finds every answer, and ejection only delays it.
inline constexpr std::int64_t kEjectionCapacityShare = 32;

// The exact searches -----------------------------------------------------------------------------------------------

// Buffers x cliques up to which plain lifespans are searched. One descent to a packing looks at that many. In larger
// problems there is time for few descents, and a wrong decision is noticed too late.
inline constexpr std::int64_t kSearchMostSize = 4'000'000;
// Decisions of the shortest slice of a configuration. Longer slices lose time in a bad configuration, shorter ones end
// too early in a good one.
inline constexpr std::int64_t kShortestSlice = 1000;
// The same per buffer, in the search over sets of cliques for plain lifespans. Slices of 1,000 decisions took twice as
// long.
inline constexpr std::int64_t kSetsSlicePerBuffer = 10;
// Buffers and cliques that a search looks at per unit of effort. They are closer together in memory than other pairs.
inline constexpr std::int64_t kSearchWorkPerEffort = 2;
// Decisions between two checks of the stop flag. More of them delay a stop, fewer cost time.
inline constexpr std::int64_t kSearchStopInterval = 256;
inline constexpr std::int64_t kPairOrderStopInterval = 64;
// States in a table of nogoods: 4 MiB per search. A larger table prunes little more and does not fit the cache.
inline constexpr std::size_t kNogoodSlots = std::size_t{1} << 18U;
// The smallest step downwards that a descent asks for is this share of the distance between the target and the best.
inline constexpr std::int64_t kDescentLargestDivisor = 32;

// Large buffers first ----------------------------------------------------------------------------------------------

// Small buffers hold at most these shares of the target at any moment. The shares are tried in this order.
inline constexpr std::array<std::int64_t, 3> kLargeFirstShares = {64, 16, 256};
// If fewer than this share of the buffers are small, the division is not tried.
inline constexpr std::size_t kLargeFirstLeastShare = 8;
// Buffers up to which it is tried. A run copies the problem.
inline constexpr std::size_t kLargeFirstMostBuffers = 50'000;

// The busiest moments first ----------------------------------------------------------------------------------------

// The load of a busy moment is below the target by at most one of these shares of it. The shares are tried in this
// order.
inline constexpr std::array<std::int64_t, 4> kBusiestFirstShares = {32, 20, 64, 14};
// The same for the exact search alone, which asks for more and more moments.
inline constexpr std::array<std::int64_t, 8> kBusiestSearchShares = {64, 32, 24, 20, 16, 14, 12, 10};
// Effort of that search for all shares, 22 ms. With less, it does not pack the moments above 31/32 of the bound on some
// problems of 10,000 random buffers.
inline constexpr std::int64_t kBusiestSearchEffort = 1'100'000;
// Buffers up to which it is tried. A run copies the problem several times.
inline constexpr std::size_t kBusiestSearchMostBuffers = 50'000;
// Units of that search per unit of effort of the run. The busy buffers are few, so their units take a quarter of the
// time.
inline constexpr std::int64_t kBusiestSearchWorkPerEffort = 4;

// Ejection ---------------------------------------------------------------------------------------------------------

// Moves per buffer after which a step has failed. More help hard steps and delay easy ones.
inline constexpr std::int64_t kEjectionMovesPerBuffer = 2000;
// A step that takes more than this share of the effort has failed, too.
inline constexpr std::int64_t kEjectionMostSteps = 8;
// Failed steps in a row that end a run.
inline constexpr int kEjectionMostFailures = 8;
// The first step asks for this share of the distance between the bound and the best.
inline constexpr std::int64_t kEjectionFirstDivisor = 8;
// First weights are from 1 to one more than this, by length of life. Equal weights were 0.3 % worse on large problems.
inline constexpr double kEjectionHeaviest = 60;
// Shifts per neighbour after which an insertion sort is given up for a full sort.
inline constexpr std::size_t kEjectionMostShifts = 8;
// Shifts of an insertion sort per unit of effort.
inline constexpr std::int64_t kEjectionShiftsPerEffort = 8;

// Groups -----------------------------------------------------------------------------------------------------------

// Effort of the blocks, and of the members, in the first phase.
inline constexpr std::int64_t kGroupsFirstPhase = 200'000;
// Pairs of members up to which the search over pair orders is tried. It solves dozens of groups, not hundreds.
inline constexpr std::int64_t kPairOrderMostPairs = 200'000;
// The pair-order search begins in the first phase whose limit pays for this share of a whole round.
inline constexpr std::int64_t kPairOrderShareOfRound = 4;

// Greedy -----------------------------------------------------------------------------------------------------------

// Free ranges that best fit tries, from the smallest that is large enough.
inline constexpr int kFreeListMostRanges = 64;

// Slots ------------------------------------------------------------------------------------------------------------

// Effort per buffer that is always granted to the conflict graph, so that small problems work with any effort.
inline constexpr std::int64_t kSlotsGraphEffortPerBuffer = 64;

// Regions ----------------------------------------------------------------------------------------------------------

// Effort of one packing in the first phase. It doubles with each phase.
inline constexpr std::int64_t kRegionFirstLimit = 200'000;
// At least this much per buffer, so that large problems complete their first strategies.
inline constexpr std::int64_t kRegionLimitPerBuffer = 32;
// A pass of moves, or a search, may ask for this many packings with full effort.
inline constexpr std::int64_t kRegionLimitsPerPass = 8;
inline constexpr int kRegionMostPhases = 16;
// Demands and cliques that the prices of one level may look at. More raise the bound a little.
inline constexpr std::int64_t kRegionBoundWork = 30'000'000;
// Rounds of pricing single cliques, and steps along subgradients.
inline constexpr int kRegionMostPricings = 100;
inline constexpr int kRegionMostSubgradientSteps = 200;
// Subgradient steps without a gain before the step is halved, and halvings before the end.
inline constexpr int kRegionPatience = 6;
inline constexpr int kRegionMostHalvings = 12;
// Effort of the moves that look only at loads.
inline constexpr std::int64_t kRegionLoadMovesEffort = 10'000'000;
// Effort of one move, besides its demands and the groups that it looks at.
inline constexpr std::int64_t kRegionMoveEffort = 16;
// Entries of the lists of groups in each clique: 200 MB at this limit. Larger problems get no moves.
inline constexpr std::int64_t kRegionMostInCliques = 50'000'000;
// Groups x regions x levels up to which the exact search is tried.
inline constexpr std::size_t kRegionSearchMostSize = 2'000'000;
// A nogood is minimized with one packing per member, so larger ones are kept as they are.
inline constexpr std::size_t kRegionMostToMinimize = 32;
// Packings of at most this many groups are stored, and at most this many packings.
inline constexpr std::size_t kRegionMostStoredSize = 64;
inline constexpr std::size_t kRegionMostStored = 50'000;
// Effort of the clique cover of a relation.
inline constexpr std::int64_t kRegionCoverEffort = 50'000'000;
// Sets of allowed regions that are checked for an overload.
inline constexpr std::size_t kRegionMostOverloadSets = 64;
// States and decisions that the sweep keeps before it gives up. A state takes a few hundred bytes.
inline constexpr std::size_t kRegionSweepMostStates = 100'000;
inline constexpr std::size_t kRegionSweepMostHistory = 8'000'000;
// Units of effort that a new state of the sweep costs.
inline constexpr std::int64_t kRegionSweepStateWork = 8;
// An estimate of the effort of one packing, because `allocate` does not report what it has spent. The units are per
// buffer of a sweep, per pair of buffers of the greedy orders, and per decision and buffer of a search.
inline constexpr std::int64_t kRegionSweepEffort = 8;
inline constexpr std::int64_t kRegionOrdersEffort = 8;
inline constexpr std::int64_t kRegionDecisionEffort = 4;

}  // namespace lowtide::allocate_internal::tuning
