// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// Limits on the input that Lowtide accepts. A file beyond a limit is refused with a message that names the limit and
// its value. The limits bound time and memory on hostile files; they are far above what real models need.
namespace lowtide::limits {

inline constexpr std::int64_t kMaxFileBytes = (std::int64_t{1} << 31) - 1;  // protobuf's own limit: 2 GiB - 1
inline constexpr std::int64_t kMaxPlanFileBytes = std::int64_t{1} << 32;
inline constexpr std::int64_t kMaxTargetFileBytes = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxNodes = 10'000'000;  // of all graphs of a model, after inlining
inline constexpr std::int64_t kMaxTensors = 40'000'000;
inline constexpr int kMaxBodyNesting = 32;  // bodies in bodies
inline constexpr int kMaxCallDepth = 100;   // of model-local functions that call each other
inline constexpr int kMaxRank = 64;
inline constexpr std::int64_t kMaxNameBytes = 65'536;  // of a tensor, node or buffer
inline constexpr std::int64_t kMaxSymbolBytes = 4096;  // of an extent in a file
inline constexpr std::int64_t kMaxPathBytes = 4096;    // of external data
inline constexpr std::int64_t kMaxTensorBytes = (std::int64_t{1} << 47) - 1;
inline constexpr std::int64_t kMaxTotalBytes = (std::int64_t{1} << 62) - 1;  // sum over all tensors
inline constexpr std::int64_t kMaxArenaBytes = (std::int64_t{1} << 55) - 1;  // size or offset in a plan or target
inline constexpr std::int64_t kMaxFoldedElements = 65'536;  // elements of one tensor that is computed before the run
inline constexpr std::int64_t kMaxRegions = 16;             // of one packing problem
inline constexpr std::int64_t kMaxStreams = 1024;           // of one plan
inline constexpr int kMaxTeamThreads = 256;                 // that run one kernel together
inline constexpr std::int64_t kMaxAlignment = std::int64_t{1} << 30;
inline constexpr int kMaxTextDepth = 64;  // nesting of JSON, TOML and text forms

}  // namespace lowtide::limits
