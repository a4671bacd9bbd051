// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lowtide/base/enum_names.h"
#include "lowtide/pipeline/plan_options.h"

namespace lowtide {

// Why `lowtide plan` makes a plan. The options of each are from options_for().
enum class PlanPurpose : std::uint8_t {
  graph,
  graph_with_reruns,
  load_time,
  curve_start,
  curve_graph,
  curve_point,
  answer,
  integers,
  as_written,
};
template <>
inline constexpr auto kEnumNames<PlanPurpose> = enum_names<PlanPurpose>({{PlanPurpose::graph, "graph"},
                                                                         {PlanPurpose::graph_with_reruns,
                                                                          "graph_with_reruns"},
                                                                         {PlanPurpose::load_time, "load_time"},
                                                                         {PlanPurpose::curve_start, "curve_start"},
                                                                         {PlanPurpose::curve_graph, "curve_graph"},
                                                                         {PlanPurpose::curve_point, "curve_point"},
                                                                         {PlanPurpose::answer, "answer"},
                                                                         {PlanPurpose::integers, "integers"},
                                                                         {PlanPurpose::as_written, "as_written"}});

struct PlanOfRequest {
  PlanPurpose purpose;
  std::string_view when;     // they are made
  std::string_view most;     // of them
  std::string_view decides;  // what they decide
};

// The plans that one `lowtide plan` makes, in this order. docs/algorithms/rematerialization.md has the same table.
inline constexpr std::array<PlanOfRequest, 9> kPlansOfRequest = {{
    {.purpose = PlanPurpose::graph,
     .when = "for the kernels of this machine, with a budget or measured costs",
     .most = "6, one for each graph; twice, if one lacks measured times",
     .decides = "which graph runs: with or without the formats, epilogues, halves and Winograd's algorithm"},
    {.purpose = PlanPurpose::graph_with_reruns,
     .when = "after `graph`, if that plan exceeds the budget and may still win",
     .most = "6, one for each graph; twice, if one lacks measured times",
     .decides = "whether reruns make a fast graph fit"},
    {.purpose = PlanPurpose::load_time,
     .when = "if some nodes run once, when the model is loaded",
     .most = "1",
     .decides = "nothing; the report says how much memory these nodes need"},
    {.purpose = PlanPurpose::curve_start,
     .when = "for `--curve` and `--budget auto`",
     .most = "1",
     .decides = "the largest budget of the curve, because it has no limit"},
    {.purpose = PlanPurpose::curve_graph,
     .when = "for `--curve` and `--budget auto`",
     .most = "5, one for each other graph",
     .decides = "the smallest budget of the curve, and which graphs are too slow to be tried"},
    {.purpose = PlanPurpose::curve_point,
     .when = "for `--curve` and `--budget auto`",
     .most = "6 for each of the other points",
     .decides = "the time of a budget, and with `auto` the budget and the graph of the answer"},
    {.purpose = PlanPurpose::answer,
     .when = "always, except for `--curve`",
     .most = "1; another 3 for a budget over several regions",
     .decides = "the answer"},
    {.purpose = PlanPurpose::integers,
     .when = "for a quantized model of at most 20,000 nodes",
     .most = "1",
     .decides = "nothing; the report says what integer operators would need"},
    {.purpose = PlanPurpose::as_written,
     .when = "if lowering for this machine was on, and the model has at most 20,000 nodes",
     .most = "1",
     .decides = "nothing; the report says what the model would need without it"},
}};

// The options of a plan for a purpose, made from those of the answer. Plans that choose a graph and plans that are only
// shown in a report have a limited effort. A point of a curve has a fourth of the efforts for reruns and offsets, and
// half of the effort for proofs. Plans that choose a graph depend on the budget alone, so that every command chooses
// the same one.
[[nodiscard]] PlanOptions options_for(PlanPurpose purpose, const PlanOptions& answer);

// The most nodes of a graph that is planned only for a report. With the limited effort such a plan takes 0.12 s for
// 1,803 nodes, where the answer takes 2.9 s. On larger graphs, the heuristics alone would take seconds.
inline constexpr std::int64_t kMostReportedNodes = 20'000;

}  // namespace lowtide
