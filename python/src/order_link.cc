// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "bind.h"
#include "call.h"
#include "lowtide/pipeline/swap_budget.h"
#include "order.h"

namespace lowtide::python {
namespace {

using Text = std::pair<std::string, bool>;           // the problem in JSON or its path, and whether it is a path
using Link = std::pair<std::int64_t, std::int64_t>;  // bytes per second, and nanoseconds of latency

ImportedOrderGraph read_with_units(const Text& graph) {
  ImportedOrderGraph file = read_order(graph.first, graph.second, {.with_costs = true, .with_units = true});
  if (file.nanoseconds_per_cost) return file;
  throw Failure(Error{ErrorCode::invalid,
                      "the graph does not state the time of a unit of 'cost', which a link needs; add \"units\": "
                      "{\"cost\": \"0.01 ms\"}",
                      ""});
}

SwappedBudget swapped(const ImportedOrderGraph& file, std::int64_t budget, std::optional<std::int64_t> effort,
                      const Link& link, const std::atomic<bool>* stop) {
  SwapOptions options{.budget = beside_fixed(file, budget),
                      .link = {.bytes_per_second = link.first,
                               .latency_nanoseconds = link.second,
                               .nanoseconds_per_cost = *file.nanoseconds_per_cost},
                      .stop = stop};
  options.effort = effort.value_or(options.effort);
  return take(swap_budget(file.graph, file.problem, plain_target(), options));
}

// Rows of node, output, run, direction, issue, complete, bytes, begin and end.
nb::list rows_of_transfers(const ImportedOrderGraph& file, const SwappedBudget& found) {
  nb::list rows;
  for (const Transfer& transfer : found.answer.transfers) {
    const NodeId node = found.answer.runs[transfer.run];
    const NodeId entry = transfer.part.value_or(node);
    rows.append(nb::make_tuple(file.index[node], file.output_numbers[entry], transfer.run,
                               std::string(to_string(transfer.direction)), transfer.issue, transfer.complete,
                               found.problem.nodes[entry].size.count(), transfer.begin, transfer.end));
  }
  return rows;
}

// Rows of node, link, issue, complete, bytes, begin and end.
nb::list rows_of_fetches(const ImportedOrderGraph& file, const SwappedBudget& found) {
  nb::list rows;
  for (const Fetch& fetch : found.answer.fetches) {
    const BudgetNode& node = found.problem.nodes[fetch.entry];
    rows.append(nb::make_tuple(file.index[fetch.entry], found.problem.links[*node.fetched_over].name, fetch.issue,
                               fetch.complete, node.size.count(), fetch.begin, fetch.end));
  }
  return rows;
}

CopiesOfRuns copies_of(const SwapAnswer& answer) { return {.transfers = answer.transfers, .fetches = answer.fetches}; }

AnyDict keep_over_link(const Text& graph, std::int64_t budget, std::optional<std::int64_t> effort, const Link& link) {
  std::optional<ImportedOrderGraph> file;
  const SwappedBudget found = call_interruptibly([&](const std::atomic<bool>* stop) {
    file = read_with_units(graph);
    return swapped(*file, budget, effort, link, stop);
  });
  const SwapAnswer& answer = found.answer;
  nb::dict dict;
  dict["budget"] = (found.problem.budget + file->fixed_bytes).count();
  dict["runs"] = numbers_of(*file, answer.runs);
  dict["peak"] = (answer.peak + file->fixed_bytes).count();
  dict["outcome"] = std::string(to_string(answer.outcome));
  dict["cost"] = answer.time;
  dict["base_cost"] = answer.base_time;
  dict["cost_bound"] = answer.time_bound;
  dict["stall"] = answer.stall_time;
  dict["at_peak"] = values_at_peak(*file, found.problem, answer.runs, copies_of(answer));
  dict["obstacle"] = nb::none();
  if (answer.obstruction) dict["obstacle"] = file->index[*answer.obstruction];
  dict["obstacle_beside"] = nb::tuple();
  dict["transfers"] = rows_of_transfers(*file, found);
  dict["fetches"] = rows_of_fetches(*file, found);
  return dict;
}

std::string page_over_link(const Text& graph, std::int64_t budget, std::optional<std::int64_t> effort, const Link& link,
                           const PageHead& head) {
  return call_interruptibly([&](const std::atomic<bool>* stop) {
    const ImportedOrderGraph file = read_with_units(graph);
    const SwappedBudget found = swapped(file, budget, effort, link, stop);
    const CopiesOfRuns copies = copies_of(found.answer);
    return page_of_runs({.problem = found.problem,
                         .runs = found.answer.runs,
                         .names = file.names,
                         .origins = file.origins,
                         .fixed = file.fixed_bytes,
                         .copies = copies,
                         .phases = file.phases},
                        head);
  });
}

}  // namespace

void bind_order_link(nb::module_& module) {
  module.def("keep_budget_over_link", &keep_over_link, nb::arg("graph"), nb::arg("budget"), nb::arg("effort").none(),
             nb::arg("link"));
  module.def("budget_page_over_link", &page_over_link, nb::arg("graph"), nb::arg("budget"), nb::arg("effort").none(),
             nb::arg("link"), nb::arg("head"));
}

}  // namespace lowtide::python
