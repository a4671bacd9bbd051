// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The numbers that the strategies were tuned with, in one place. None of them changes whether an answer is valid or a
// bound is proven. Each says what it trades, and what a larger value costs. Effort is counted in pairs of buffers
// looked at, 10 to 30 ns each. docs/algorithms/packing.md tells what was measured.
//
// Constants that a proof rests on (ranges of prices, keys, ids) are not here: they stand beside the proof.
namespace lowtide::allocate_internal::tuning {

// Memory and size limits -------------------------------------------------------------------------------------------

// A conflict graph makes orders and ejection fast and takes 8 bytes per pair: 128 MB at this limit.
inline constexpr std::int64_t kGraphMostPairs = 16'000'000;
// Problems with more buffers than this get a graph only if it has few pairs per buffer; for them few orders are tried.
inline constexpr std::size_t kGraphManyBuffers = 50'000;
// Pairs per buffer up to which such a large problem gets a graph: 100 bytes per buffer.
inline constexpr std::int64_t kGraphMostPairsPerBuffer = 12;
// Members of all cliques of a cover together; a larger cover takes more memory than a search over it can use.
inline constexpr std::size_t kCoverMostMembers = 1'000'000;
// Buffers in a relation for which cliques are grown. The table has a bit for each pair: 8 MiB at this limit.
inline constexpr std::size_t kCoverMostPaired = 8192;

// Phases and shares ------------------------------------------------------------------------------------------------

// Effort of the first phase. A larger one delays the searches behind the greedy orders.
inline constexpr std::int64_t kFirstPhase = 500'000;
// If all strategies give up early, phases end when one is this many times larger than the effort; more only idle.
inline constexpr std::int64_t kPhasesBeyondEffort = 8;
// A phase spends little more than this on the target, because a target that is not found soon is hard or impossible.
// More takes effort from the heights above it.
inline constexpr std::int64_t kSearchTargetEffort = 4'000'000;
// Phases from this limit on also search plain lifespans as cliques, where a decision costs ten times as much.
inline constexpr std::int64_t kFirstPhaseAsCliques = 200'000'000;
// Effort for the bytes within one unit of alignment, which matter only to a caller that asks for the exact minimum.
inline constexpr std::int64_t kWithinUnitEffort = 12'000'000;

// The exact searches -----------------------------------------------------------------------------------------------

// Buffers x cliques up to which plain lifespans are searched. One descent to a packing looks at that many; in larger
// problems few descents are made and none is repeated.
inline constexpr std::int64_t kSearchMostSize = 4'000'000;
// Decisions of the shortest slice of a configuration. Longer slices lose time in a bad one, shorter ones end too early.
inline constexpr std::int64_t kShortestSlice = 1000;
// Things that a search looks at per unit of effort; they are closer in memory than what effort usually counts.
inline constexpr std::int64_t kSearchWorkPerEffort = 2;
// Decisions between two looks at the stop flag. More delay a stop; fewer cost time.
inline constexpr std::int64_t kSearchStopInterval = 256;
inline constexpr std::int64_t kPairOrderStopInterval = 64;
// States in a table of nogoods: 4 MiB per search. A larger table prunes little more and leaves the cache.
inline constexpr std::size_t kNogoodSlots = std::size_t{1} << 18U;
// The smallest step downwards that a descent asks for, as a share of the gap between bound and best.
inline constexpr std::int64_t kDescentLargestDivisor = 32;

// Large buffers first ----------------------------------------------------------------------------------------------

// Small buffers hold at most this share (1/64, ...) of the target at any moment. Tried in turn.
inline constexpr std::array<std::int64_t, 3> kLargeFirstShares = {64, 16, 256};
// Fewer small buffers than this share (1/8) are not worth a turn.
inline constexpr std::size_t kLargeFirstLeastShare = 8;
// A turn copies the problem, so larger problems are left out.
inline constexpr std::size_t kLargeFirstMostBuffers = 50'000;

// Ejection ---------------------------------------------------------------------------------------------------------

// Moves per buffer in one step, before the step counts as failed. More help hard steps and delay easy ones.
inline constexpr std::int64_t kEjectionMovesPerBuffer = 2000;
// A step that takes more than this share (1/8) of the effort counts as failed too.
inline constexpr std::int64_t kEjectionMostSteps = 8;
// Failed steps in a row that end a turn.
inline constexpr int kEjectionMostFailures = 8;
// The first step asks for this share (1/8) of the gap.
inline constexpr std::int64_t kEjectionFirstDivisor = 8;
// First weights go from 1 to one more than this, by length of life. Equal weights were 0.3 % worse on large problems.
inline constexpr double kEjectionHeaviest = 60;

// Groups -----------------------------------------------------------------------------------------------------------

// Effort of the blocks, and of the members, in the first phase.
inline constexpr std::int64_t kGroupsFirstPhase = 200'000;
// Pairs of members that the search over pair orders takes on. It reaches dozens of groups, so more is in vain.
inline constexpr std::int64_t kPairOrderMostPairs = 200'000;
// That search begins in the first phase with this share (1/4) of the effort of a whole round.
inline constexpr std::int64_t kPairOrderShareOfRound = 4;

// Greedy -----------------------------------------------------------------------------------------------------------

// Free stretches of one size that best fit looks at, before it takes the best of them.
inline constexpr int kFreeListMostStretches = 64;

// Regions ----------------------------------------------------------------------------------------------------------

// Effort of one packing in the first phase; it doubles with each phase.
inline constexpr std::int64_t kRegionFirstLimit = 200'000;
// At least this much per buffer, so that large problems get through their first strategies.
inline constexpr std::int64_t kRegionLimitPerBuffer = 32;
// A pass of moves, or a search, may ask for this many packings with full effort.
inline constexpr std::int64_t kRegionLimitsPerPass = 8;
inline constexpr int kRegionMostPhases = 16;
// Parts and cliques that the prices of one level may look at. More raise the bound a little.
inline constexpr std::int64_t kRegionBoundWork = 30'000'000;
// Rounds of pricing single cliques, and steps along subgradients.
inline constexpr int kRegionMostPricings = 100;
inline constexpr int kRegionMostSubgradientSteps = 200;
// Subgradient steps without a gain before the step is halved, and halvings before the end.
inline constexpr int kRegionPatience = 6;
inline constexpr int kRegionMostHalvings = 12;
// Effort of the moves that look at loads only.
inline constexpr std::int64_t kRegionLoadMovesEffort = 10'000'000;
// Entries of the lists of buffers in each clique: 200 MB at this limit. Moves do without such problems.
inline constexpr std::int64_t kRegionMostInCliques = 50'000'000;
// Buffers x regions x levels that the exact search takes on.
inline constexpr std::size_t kRegionSearchMostSize = 2'000'000;
// A set that does not fit is cut down with one question per member, so larger sets are kept as they are.
inline constexpr std::size_t kRegionMostToShrink = 32;
// Packings of at most this many buffers are remembered, and this many of them.
inline constexpr std::size_t kRegionMostKnownSize = 64;
inline constexpr std::size_t kRegionMostKnown = 50'000;
// Effort of the clique cover of a relation.
inline constexpr std::int64_t kRegionCoverEffort = 50'000'000;
// Sets of allowed regions for which an overload is looked for.
inline constexpr std::size_t kRegionMostOverloadSets = 64;
// States and decisions that the sweep keeps; it gives up beyond. A state takes some hundred bytes.
inline constexpr std::size_t kRegionSweepMostStates = 100'000;
inline constexpr std::size_t kRegionSweepMostHistory = 8'000'000;
// Units of effort that a new state of the sweep costs.
inline constexpr std::int64_t kRegionSweepStateWork = 8;

}  // namespace lowtide::allocate_internal::tuning
