// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

// The names that the writer and the reader of plan files use. docs/plan-format.md explains them.
namespace lowtide::plan_internal::plan_form {

inline constexpr std::string_view kFormat = "lowtide.plan";
inline constexpr std::int64_t kSchemaVersion = 1;

template <std::size_t count>
using Names = std::array<std::string_view, count>;

// The names that features_of returns.
inline constexpr Names<6> kFeatures = {"buffer_parts", "copies", "links", "recompute", "state_updates", "streams"};

inline constexpr Names<20> kFileKeys = {"format",  "schema_version", "features", "columns", "provenance",
                                        "machine", "execution",      "kernels",  "arena",   "claims",
                                        "nodes",   "tensors",        "streams",  "buffers", "values",
                                        "steps",   "outputs",        "updates",  "bodies",  "body_plans"};
// The last key of a provenance, of a machine and of a region is optional.
inline constexpr Names<10> kProvenanceKeys = {"tool",    "model",    "model_sha256", "graph",  "nodes",
                                              "tensors", "lowering", "dims",         "target", "machine_key"};
inline constexpr Names<4> kMachineKeys = {"regions", "links", "workers", "constants"};
inline constexpr Names<4> kRegionKeys = {"name", "capacity", "alignment", "read_only"};
inline constexpr Names<4> kLinkKeys = {"from", "to", "bytes_per_second", "latency_picoseconds"};
inline constexpr Names<3> kWorkerKeys = {"name", "count", "addressable"};
inline constexpr Names<9> kClaimKeys = {"load_as_given",    "load",     "bounds",           "schedule",
                                        "schedule_optimal", "allocate", "allocate_optimal", "shortfall",
                                        "uncounted"};
inline constexpr std::int64_t kBoundScopes = 3;  // at most one bound per scope
inline constexpr Names<3> kBoundKeys = {"scope", "bytes", "name"};
inline constexpr Names<5> kBodyKeys = {"parent", "node", "body", "nodes", "tensors"};
inline constexpr Names<16> kBodyPlanKeys = {"parent",    "step",    "body",    "offset", "provenance", "machine",
                                            "execution", "kernels", "arena",   "claims", "streams",    "buffers",
                                            "values",    "steps",   "outputs", "updates"};

inline constexpr Names<6> kTables = {"nodes", "tensors", "streams", "buffers", "values", "steps"};
inline constexpr Names<2> kNodeColumns = {"name", "operator"};
inline constexpr Names<4> kTensorColumns = {"name", "type", "role", "bytes"};
inline constexpr Names<2> kStreamColumns = {"worker", "link"};
inline constexpr Names<7> kBufferColumns = {"kind", "bytes", "begin", "end", "region", "offset", "parts"};
inline constexpr Names<4> kValueColumns = {"tensor", "written", "buffer", "offset"};
inline constexpr Names<9> kStepColumns = {"kind",   "node",    "kernel", "bytes", "reads",
                                          "writes", "scratch", "stream", "after"};
inline constexpr std::array<std::span<const std::string_view>, 6> kColumns = {
    kNodeColumns, kTensorColumns, kStreamColumns, kBufferColumns, kValueColumns, kStepColumns};

inline constexpr Names<3> kPartColumns = {"bytes", "begin", "end"};
inline constexpr Names<2> kRangeColumns = {"begin", "end"};

}  // namespace lowtide::plan_internal::plan_form
