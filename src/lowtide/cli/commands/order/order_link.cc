// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/order/order_request.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/hints.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/interrupt.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/pipeline/swap_budget.h"
#include "lowtide/report/swap_summary.h"

namespace lowtide::cli_internal {
namespace {

// In the unit of the file, rounded up.
std::int64_t cost_of(std::int64_t time, const TransferLink& link) {
  return time / link.nanoseconds_per_cost + (time % link.nanoseconds_per_cost == 0 ? 0 : 1);
}

std::string_view bound_name(const SwapAnswer& answer) {
  if (answer.proof) return "milestones";
  return answer.time_bound > answer.base_time ? "links" : "run_once";
}

void add_transfers(Json& json, const ImportedOrderGraph& file, const SwappedBudget& swapped) {
  const SwapAnswer& answer = swapped.answer;
  json["link"] = {{"bytes_per_second", swapped.link.bytes_per_second},
                  {"latency_ns", swapped.link.latency_nanoseconds},
                  {"cost_unit_ns", swapped.link.nanoseconds_per_cost}};
  json["time_ns"] = answer.time;
  json["base_time_ns"] = answer.base_time;
  json["time_bound_ns"] = answer.time_bound;
  json["stall_ns"] = answer.stall_time;
  Bytes moved_out;
  Bytes moved_in;
  json["transfers"] = Json::array();
  for (const Transfer& transfer : answer.transfers) {
    const NodeId node = answer.runs[transfer.run];
    const NodeId entry = transfer.part.value_or(node);
    const Bytes bytes = swapped.problem.nodes[entry].size;
    (transfer.direction == TransferDirection::out ? moved_out : moved_in) += bytes;
    json["transfers"].push_back({{"node", file.index[node]},
                                 {"output", file.output_numbers[entry]},
                                 {"run", transfer.run},
                                 {"direction", to_string(transfer.direction)},
                                 {"issue", transfer.issue},
                                 {"complete", transfer.complete},
                                 {"bytes", bytes.count()},
                                 {"begin", transfer.begin},
                                 {"end", transfer.end}});
  }
  json["bytes_out"] = moved_out.count();
  json["bytes_in"] = moved_in.count();
}

void add_fetches(Json& json, const ImportedOrderGraph& file, const SwappedBudget& swapped) {
  const BudgetProblem& problem = swapped.problem;
  Bytes fetched;
  json["fetches"] = Json::array();
  for (const Fetch& fetch : swapped.answer.fetches) {
    const BudgetNode& node = problem.nodes[fetch.entry];
    fetched += node.size;
    json["fetches"].push_back({{"node", file.index[fetch.entry]},
                               {"link", json_text(problem.links[*node.fetched_over].name)},
                               {"issue", fetch.issue},
                               {"complete", fetch.complete},
                               {"bytes", node.size.count()},
                               {"begin", fetch.begin},
                               {"end", fetch.end}});
  }
  json["bytes_fetched"] = fetched.count();
}

// The keys that --budget adds, with the same meanings, and those of --link.
void add_swaps(Json& json, const ImportedOrderGraph& file, const SwappedBudget& swapped) {
  const SwapAnswer& answer = swapped.answer;
  json["budget"] = (swapped.problem.budget + file.fixed_bytes).count();
  json["fixed_bytes"] = file.fixed_bytes.count();
  json["peak_bytes"] = (answer.peak + file.fixed_bytes).count();
  json["feasible"] = answer.outcome == BudgetOutcome::found;
  json["proven_infeasible"] = answer.outcome == BudgetOutcome::infeasible;
  json["infeasible_node"] = nullptr;
  if (answer.obstruction) json["infeasible_node"] = file.index[*answer.obstruction];
  json["cost"] = cost_of(answer.time, swapped.link);
  json["base_cost"] = cost_of(answer.base_time, swapped.link);
  json["overhead"] = nullptr;
  if (answer.base_time > 0) {
    json["overhead"] = static_cast<double>(answer.time - answer.base_time) / static_cast<double>(answer.base_time);
  }
  json["cost_bound"] = cost_of(answer.time_bound, swapped.link);
  json["cost_bound_name"] = bound_name(answer);
  json["cost_proven_optimal"] = answer.is_optimal();
  add_transfers(json, file, swapped);
  add_fetches(json, file, swapped);
  add_runs(json, file, answer.runs);
}

HintResults results_of_runs(const OrderRequest& request, const SwapAnswer& answer) {
  HintResults results{.hints = request.hints.accepted,
                      .names = request.hints.names,
                      .runs = runs_of(request.file.graph, answer.runs),
                      .is_kept = answer.outcome == BudgetOutcome::found};
  results.leaves.emplace(request.file.graph.nodes().size());
  for (const Transfer& transfer : answer.transfers) {
    if (transfer.direction == TransferDirection::out) ++(*results.leaves)[answer.runs[transfer.run]];
  }
  for (const Fetch& fetch : answer.fetches) ++results.runs[fetch.entry];
  return results;
}

}  // namespace

ExitCode swap_budget_of(const OrderRequest& request, Bytes budget, TransferLink link, Console& console) {
  const ImportedOrderGraph& file = request.file;
  if (link.nanoseconds_per_cost == 0) link.nanoseconds_per_cost = file.nanoseconds_per_cost.value_or(0);
  if (link.nanoseconds_per_cost == 0) {
    throw Stop(ExitCode::bad_input, request.path +
                                        ": the file does not state the time of a unit of 'cost', which a link needs; "
                                        "add \"units\": {\"cost\": \"0.01 ms\"}, or give --cost-unit 0.01ms");
  }
  SwapOptions options{.order = request.options, .budget = budget_beside_fixed(request, budget, console), .link = link};
  options.effort = read_count(request.arguments, "--effort", 0).value_or(options.effort);
  options.hints = request.hints.accepted;
  const Stopwatch watch;
  const Interrupt interrupt;
  options.stop = interrupt.flag();
  const SwappedBudget swapped = [&] {
    Progress progress(console, "ordering");
    options.on_improvement = [&](const SwapAnswer& best) {
      progress.note(
          progress_of_budget(best.outcome == BudgetOutcome::found, best.time, best.time_bound, best.base_time));
    };
    return take(swap_budget(file.graph, file.problem, plain_target(), options), request.path);
  }();
  if (interrupt.was_asked()) remark_interrupted(console);
  const HintResults hints = results_of_runs(request, swapped.answer);
  if (request.arguments.has("--json")) {
    Json json = json_of_order(request, swapped.ordered, watch.seconds());
    json["interrupted"] = interrupt.was_asked();
    add_swaps(json, file, swapped);
    json["hints"] = json_of(hints);
    print_json(console, json);
  } else {
    console.result(swap_summary(request.path, file.graph, swapped, file.fixed_bytes));
    console.result(hints_text(hints));
  }
  return swapped.answer.outcome == BudgetOutcome::found ? ExitCode::done : ExitCode::no;
}

}  // namespace lowtide::cli_internal
