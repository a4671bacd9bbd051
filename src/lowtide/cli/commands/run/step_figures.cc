// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/step_figures.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "lowtide/graph/multiply_accumulates.h"
#include "lowtide/graph/node_name.h"
#include "lowtide/plan/plan.h"

namespace lowtide::cli_internal {
namespace {

using Align = TextTable::Align;

// The nodes of one operator that run.
struct OperatorFigures {
  std::string type;
  std::int64_t count = 0;
  double milliseconds = 0;
  Bytes bytes;
  std::int64_t macs = 0;       // of the nodes whose number is known
  std::int64_t uncounted = 0;  // the other nodes
};

// Adds the dense bytes of the tensors of a node, each once.
void add_bytes(const Graph& graph, NodeId id, StepFigures& figures) {
  std::vector<TensorId> tensors;
  for (const auto* list : {&graph.node(id).inputs, &graph.node(id).outputs}) {
    for (const std::optional<TensorId>& tensor : *list) {
      if (tensor) tensors.push_back(*tensor);
    }
  }
  std::sort(tensors.begin(), tensors.end());
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  for (TensorId tensor : tensors) {
    figures.bytes += graph.tensor(tensor).size;
    if (graph.tensor(tensor).role == Role::constant) figures.constant_bytes += graph.tensor(tensor).size;
  }
}

// Without the time.
StepFigures figures_of(const Executable& executable, const Step& step) {
  if (const auto* copy = std::get_if<Copy>(&step.work)) {
    const Bytes bytes(2 * (copy->bytes.end - copy->bytes.begin));
    return {.type = "copy", .node = "", .kernel = "", .bytes = bytes, .constant_bytes = Bytes(), .macs = 0};
  }
  const auto* compute = std::get_if<Compute>(&step.work);
  const Graph& graph = executable.graph();
  const NodeId node = compute != nullptr ? compute->node : std::get<Alias>(step.work).node;
  StepFigures figures{.type = full_name(graph.op(node)),
                      .node = node_name(graph, node),
                      .kernel = "",
                      .bytes = Bytes(),
                      .constant_bytes = Bytes(),
                      .macs = 0};
  if (compute == nullptr) return figures;
  figures.kernel = executable.plan().kernels[compute->kernel].name;
  add_bytes(graph, node, figures);
  figures.macs = graph.node(node).bodies.empty() ? multiply_accumulates(graph, node) : std::nullopt;
  return figures;
}

std::vector<OperatorFigures> by_operator(const std::vector<StepFigures>& steps) {
  std::map<std::string, OperatorFigures> by_type;
  for (const StepFigures& step : steps) {
    OperatorFigures& sum = by_type[step.type];
    sum.type = step.type;
    sum.count += 1;
    sum.milliseconds += step.milliseconds;
    sum.bytes += step.bytes;
    sum.macs += step.macs.value_or(0);
    sum.uncounted += step.macs ? 0 : 1;
  }
  std::vector<OperatorFigures> all;
  for (auto& [type, sum] : by_type) all.push_back(std::move(sum));
  std::stable_sort(all.begin(), all.end(),
                   [](const OperatorFigures& a, const OperatorFigures& b) { return a.milliseconds > b.milliseconds; });
  return all;
}

// In 10^9 per second; "" if nothing was counted or no time was seen.
std::string rate_text(std::int64_t count, double milliseconds) {
  if (count == 0 || !(milliseconds > 0)) return "";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(count) / milliseconds * 1e-6);
  return text.data();
}

// "12.3 %"
std::string share_text(double part, double whole) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", whole > 0 ? 100 * part / whole : 0);
  return text.data();
}

}  // namespace

std::vector<StepFigures> step_figures(const Executable& executable, const IdVector<StepId, double>& milliseconds) {
  const IdVector<StepId, Step>& steps = executable.plan().program.steps;
  std::vector<StepFigures> all;
  for (StepId id : all_ids<StepId>(steps.size())) {
    all.push_back(figures_of(executable, steps[id]));
    all.back().milliseconds = milliseconds[id];
  }
  return all;
}

Json json_of_steps(const std::vector<StepFigures>& steps) {
  Json all = Json::array();
  for (const StepFigures& one : steps) {
    all.push_back({{"type", json_text(one.type)},
                   {"node", json_text(one.node)},
                   {"kernel", json_text(one.kernel)},
                   {"ms", one.milliseconds},
                   {"bytes", one.bytes.count()},
                   {"constant_bytes", one.constant_bytes.count()},
                   {"macs", one.macs ? Json(*one.macs) : Json(nullptr)}});
  }
  return all;
}

Json json_of_operators(const std::vector<StepFigures>& steps) {
  Json all = Json::array();
  for (const OperatorFigures& one : by_operator(steps)) {
    all.push_back({{"type", json_text(one.type)},
                   {"count", one.count},
                   {"ms", one.milliseconds},
                   {"bytes", one.bytes.count()},
                   {"macs", one.macs},
                   {"nodes_without_macs", one.uncounted}});
  }
  return all;
}

StyledText operators_text(const std::vector<StepFigures>& steps) {
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right});
  table.add_row({"operator", "nodes", "time", "share", "bytes", "GB/s", "GMAC/s"});
  double total = 0;
  for (const StepFigures& step : steps) total += step.milliseconds;
  for (const OperatorFigures& one : by_operator(steps)) {
    const bool is_known = one.uncounted == 0;
    table.add_row({shown_name(one.type), with_thousands(one.count), time_text(one.milliseconds),
                   share_text(one.milliseconds, total), with_thousands(one.bytes.count()),
                   rate_text(one.bytes.count(), one.milliseconds),
                   is_known ? rate_text(one.macs, one.milliseconds) : "unknown"});
  }
  return table.text();
}

std::string time_text(double milliseconds) {
  std::array<char, 32> text{};
  if (milliseconds < 1) {
    std::snprintf(text.data(), text.size(), "%.2f us", milliseconds * 1000);
  } else if (milliseconds < 1000) {
    std::snprintf(text.data(), text.size(), milliseconds < 100 ? "%.3f ms" : "%.1f ms", milliseconds);
  } else {
    std::snprintf(text.data(), text.size(), "%.2f s", milliseconds / 1000);
  }
  return text.data();
}

}  // namespace lowtide::cli_internal
