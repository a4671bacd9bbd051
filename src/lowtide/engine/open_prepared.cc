// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/open_prepared.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/engine/load_time.h"
#include "lowtide/engine/prepared_choice.h"
#include "lowtide/engine/prepared_head.h"
#include "lowtide/engine/prepared_tables.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/initialize.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/verify/verify.h"

namespace lowtide::engine_internal {
namespace {

// Options that say how to make a plan have no meaning, because the file has one. Sizes choose
// among several plans.
Result<void> check_options(const OpenOptions& options, std::size_t plans, const std::string& path) {
  const bool has_sizes = plans == 1 && (!options.import.dims.empty() || !options.import.shapes.empty());
  const bool has_places = !(options.lower.passes & passes_for(PassUse::request)).empty();
  const bool has_limits = options.plan.budget || options.link || !options.hints.empty();
  if (!has_sizes && !has_places && !has_limits && !options.given_plan) return {};
  return Error{ErrorCode::invalid,
               "a prepared file has its plan and its extents, so a plan, extents, places of inputs and outputs, a "
               "budget, hints or a link have no effect; 'lowtide prepare' takes them",
               shown_path(path)};
}

// One thread is the default, so it does not ask for anything.
Result<int> threads_for(const Provenance& of, const CpuOptions& asked, const std::string& path) {
  if (const Result<void> allowed = check_threads(asked.threads); !allowed) return allowed.error();
  const int threads = threads_of(of.machine_key).value_or(1);
  if (asked.threads == 1 || asked.threads == threads) return threads;
  return Error{ErrorCode::invalid,
               "it was prepared for " + with_count(threads, "thread") + "; prepare it for " +
                   std::to_string(asked.threads) + " with: lowtide prepare --threads " + std::to_string(asked.threads),
               shown_path(path)};
}

Error other_machine(const Provenance& of, const std::string& path) {
  const MachineKey own = machine_key(options_of_key(of.machine_key));
  return Error{ErrorCode::mismatch,
               "it was prepared for a machine with " +
                   (of.machine_key.empty() ? "no key" : listed(of.machine_key, "and")) + ", but this one has " +
                   listed(texts_of(own), "and") + "; prepare it here with: lowtide prepare " +
                   (of.model.empty() ? "MODEL" : lowtide::quoted(of.model)) + " -o FILE",
               shown_path(path)};
}

// A plan of a prepared file that is to be opened.
struct Chosen {
  PreparedHead head;
  int threads = 1;
  std::size_t table = 0;  // of its constants, among those of all plans
};

// Checks a plan against this machine and its graph.
Result<Chosen> check_plan(PreparedHead head, const OpenOptions& options, const std::string& path) {
  const Provenance& of = head.plan.plan.provenance;
  const std::vector<std::string_view> kernels = kernel_names(head.plan.plan);
  if (!runs_here(of.machine_key, options_of_key(of.machine_key).threads, kernels)) return other_machine(of, path);
  if (std::ranges::any_of(kernels, &is_onednn_kernel)) initialize_kernels();
  LOWTIDE_TRY(const int threads, threads_for(of, options.cpu, path));
  const std::vector<Violation> violations = verify(head.graph, head.plan.plan);
  if (violations.empty()) return Chosen{std::move(head), threads};
  return Error{ErrorCode::mismatch, "the plan is wrong for this model: " + violations[0].message, shown_path(path)};
}

Result<OpenedModel> prepare_plan(Chosen chosen, const std::shared_ptr<ModelWeights>& weights,
                                 const OpenOptions& options, const std::string& path) {
  PreparedHead& head = chosen.head;
  const Provenance provenance = head.plan.plan.provenance;
  for (ConstantId id : constants_of(head.graph)) {
    if (weights->table().sources.contains(id)) LOWTIDE_RETURN_IF_ERROR(weights->hold(id));
  }
  Result<std::shared_ptr<const Executable>> executable =
      Executable::prepare(std::move(head.graph), std::move(head.plan.plan), weights,
                          {.threads = chosen.threads, .system_threads = options.system_threads});
  if (!executable) {
    // A kernel may need instructions that this machine does not have.
    const bool is_missing = executable.error().code == ErrorCode::unsupported;
    return is_missing && !is_key_of_machine(provenance.machine_key) ? other_machine(provenance, path)
                                                                    : executable.error();
  }
  return OpenedModel{*std::move(executable), head.model_nodes, Bytes(0), Bytes(0), {}, std::move(head.default_inputs)};
}

// Opens plans of one file. Only threads and system_threads of the options count.
Result<OpenedRange> open_plans(std::vector<PreparedHead> heads, const OpenOptions& options, const std::string& path) {
  std::vector<Chosen> all;
  PreparedTables shared;
  for (PreparedHead& head : heads) {
    LOWTIDE_TRY(Chosen one, check_plan(std::move(head), options, path));
    one.table = shared.add(one.head);
    all.push_back(std::move(one));
  }
  std::vector<std::shared_ptr<ModelWeights>> weights;
  for (ConstantTable& table : std::move(shared).take()) {
    Result<ModelWeights> opened = ModelWeights::open(path, std::move(table));
    if (!opened) return opened.error();
    weights.push_back(std::make_shared<ModelWeights>(*std::move(opened)));
  }
  OpenedRange range;
  for (Chosen& one : all) {
    const std::shared_ptr<ModelWeights>& own = weights[one.table];
    LOWTIDE_TRY(OpenedModel member, prepare_plan(std::move(one), own, options, path));
    range.members.push_back(std::move(member));
  }
  for (const auto& own : weights) LOWTIDE_RETURN_IF_ERROR(own->check_files());
  return range;
}

// The number of the plan for one entry of options.
Result<std::size_t> choose_one(std::span<const PreparedHead> heads, const OpenOptions& options,
                               const std::string& path) {
  if (heads.size() == 1) return std::size_t{0};
  LOWTIDE_TRY(const std::vector<std::size_t> chosen, choose_prepared(heads, options.import, path));
  // Inputs that leave out a plan fit the first of the others. Those that say nothing choose none.
  const bool has_inputs = std::ranges::any_of(options.import.given, [](const auto& one) { return !one.empty(); });
  if (chosen.size() == 1 || (has_inputs && chosen.size() < heads.size())) return chosen.front();
  return Error{ErrorCode::invalid,
               "this prepared file has plans for " + sizes_of_plans(heads) + "; choose one by its sizes or by inputs" +
                   (has_inputs ? "" : ", or open all of them with open_range() or RangeSession"),
               shown_path(path)};
}

}  // namespace

Result<OpenedModel> open_prepared(const std::string& path, const OpenOptions& options) {
  LOWTIDE_TRY(std::vector<PreparedHead> heads, read_prepared_heads(path));
  LOWTIDE_RETURN_IF_ERROR(check_options(options, heads.size(), path));
  LOWTIDE_TRY(const std::size_t chosen, choose_one(heads, options, path));
  std::vector<PreparedHead> one;
  one.push_back(std::move(heads[chosen]));
  heads.clear();
  LOWTIDE_TRY(OpenedRange opened, open_plans(std::move(one), options, path));
  return std::move(opened.members.front());
}

Result<OpenedRange> open_prepared_members(const std::string& path, std::span<const OpenOptions> options) {
  LOWTIDE_TRY(std::vector<PreparedHead> heads, read_prepared_heads(path));
  for (const OpenOptions& one : options) LOWTIDE_RETURN_IF_ERROR(check_options(one, heads.size(), path));
  std::vector<PreparedHead> chosen;
  if (options.size() > 1) {
    for (const OpenOptions& one : options) {
      LOWTIDE_TRY(const std::size_t at, choose_one(heads, one, path));
      chosen.push_back(heads[at]);  // entries may choose the same plan
    }
  } else if (heads.size() == 1) {
    chosen = std::move(heads);
  } else {
    LOWTIDE_TRY(const std::vector<std::size_t> all, choose_prepared(heads, options.front().import, path));
    for (const std::size_t at : all) chosen.push_back(std::move(heads[at]));
  }
  heads.clear();
  return open_plans(std::move(chosen), options.front(), path);
}

}  // namespace lowtide::engine_internal
