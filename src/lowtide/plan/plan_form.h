// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

// The names that the writer and the reader of plan files share; docs/plan-format.md explains them.
namespace lowtide::detail::plan_form {

inline constexpr std::string_view kFormat = "lowtide.plan";
inline constexpr std::int64_t kSchemaVersion = 1;
inline constexpr std::int64_t kStreamsVersion = 2;  // of files with a plan for several streams
inline constexpr std::int64_t kPartsVersion = 3;    // of files with buffers of parts; otherwise as version 2

template <std::size_t count>
using Names = std::array<std::string_view, count>;

inline constexpr Names<14> kFileKeys = {"format", "schema_version", "columns", "provenance", "regions",
                                        "arena",  "claims",         "nodes",   "tensors",    "buffers",
                                        "values", "steps",          "bodies",  "body_plans"};
inline constexpr Names<15> kStreamsFileKeys = {"format",  "schema_version", "columns", "provenance", "regions",
                                               "arena",   "claims",         "nodes",   "tensors",    "streams",
                                               "buffers", "values",         "steps",   "bodies",     "body_plans"};
inline constexpr Names<7> kProvenanceKeys = {"tool", "model_sha256", "graph", "nodes", "tensors", "dims", "target"};
inline constexpr Names<3> kRegionKeys = {"name", "capacity", "alignment"};
inline constexpr Names<8> kClaimKeys = {"load_as_given",    "load",     "bound",           "bound_name", "schedule",
                                        "schedule_optimal", "allocate", "allocate_optimal"};
inline constexpr Names<5> kBodyKeys = {"parent", "node", "body", "nodes", "tensors"};
inline constexpr Names<11> kBodyPlanKeys = {"parent", "step",   "body",    "offset", "provenance", "regions",
                                            "arena",  "claims", "buffers", "values", "steps"};
inline constexpr Names<12> kStreamsBodyPlanKeys = {"parent", "step",   "body",    "offset",  "provenance", "regions",
                                                   "arena",  "claims", "streams", "buffers", "values",     "steps"};

inline constexpr Names<5> kTables = {"nodes", "tensors", "buffers", "values", "steps"};
inline constexpr Names<2> kNodeColumns = {"name", "operator"};
inline constexpr Names<4> kTensorColumns = {"name", "type", "role", "bytes"};
inline constexpr Names<6> kBufferColumns = {"kind", "bytes", "begin", "end", "region", "offset"};
inline constexpr Names<4> kValueColumns = {"tensor", "written", "buffer", "offset"};
inline constexpr Names<5> kStepColumns = {"node", "kind", "reads", "writes", "scratch"};
inline constexpr std::array<std::span<const std::string_view>, 5> kColumns = {
    kNodeColumns, kTensorColumns, kBufferColumns, kValueColumns, kStepColumns};

inline constexpr Names<7> kStreamsStepColumns = {"node", "kind", "reads", "writes", "scratch", "stream", "after"};
inline constexpr std::array<std::span<const std::string_view>, 5> kStreamsColumns = {
    kNodeColumns, kTensorColumns, kBufferColumns, kValueColumns, kStreamsStepColumns};

inline constexpr Names<7> kPartsBufferColumns = {"kind", "bytes", "begin", "end", "region", "offset", "parts"};
inline constexpr Names<3> kPartColumns = {"bytes", "begin", "end"};
inline constexpr std::array<std::span<const std::string_view>, 5> kPartsColumns = {
    kNodeColumns, kTensorColumns, kPartsBufferColumns, kValueColumns, kStreamsStepColumns};

[[nodiscard]] constexpr const std::array<std::span<const std::string_view>, 5>& columns_of(std::int64_t version) {
  if (version == kPartsVersion) return kPartsColumns;
  return version == kStreamsVersion ? kStreamsColumns : kColumns;
}

}  // namespace lowtide::detail::plan_form
