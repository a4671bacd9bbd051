// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/prepared_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/engine/load_time.h"
#include "lowtide/engine/open_prepared.h"
#include "lowtide/engine/prepared_head.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/initialize.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/verify/verify.h"

namespace lowtide {
namespace {

using engine_internal::kPreparedAlignment;
using engine_internal::PreparedHead;

constexpr std::array<char, kPreparedAlignment> kZeros = {};

// Options that say how to make a plan have no meaning, because the file has one.
Result<void> check_options(const OpenOptions& options, const std::string& path) {
  const bool has_sizes = !options.import.dims.empty() || !options.import.shapes.empty();
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

}  // namespace

Result<PreparedFile> prepared_file(const OpenedModel& model) {
  const Executable& executable = *model.executable;
  PreparedHead head{.model_nodes = model.model_nodes,
                    .default_inputs = model.default_inputs,
                    .constants = executable.weights().table(),
                    .graph = executable.graph(),
                    .plan = {executable.plan(), labels_of(executable.graph())}};
  PreparedFile file;
  std::vector<ConstantId> used;
  std::int64_t end = 0;
  for (ConstantId id : engine_internal::constants_of(executable.graph())) {
    if (!head.constants.sources.contains(id)) continue;  // its content is known, and in the graph
    const std::optional<std::span<const std::byte>> bytes = executable.weights().bytes(id);
    if (!bytes) continue;  // no kernel reads it, because prepare() refuses operands without bytes
    const std::int64_t padding = (kPreparedAlignment - end % kPreparedAlignment) % kPreparedAlignment;
    if (padding > 0) file.pieces.emplace_back(kZeros.data(), static_cast<std::size_t>(padding));
    file.pieces.emplace_back(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    head.constants.sources[id].where = ConstantSource::InFile{.file = ConstantFileId(0), .offset = end + padding};
    used.push_back(id);
    end += padding + static_cast<std::int64_t>(bytes->size());
  }
  Result<std::string> text = engine_internal::write_prepared_head(head, used);
  if (!text) return text.error();
  file.head = *std::move(text);
  return file;
}

namespace engine_internal {

Result<OpenedModel> open_prepared(const std::string& path, const OpenOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(check_options(options, path));
  Result<PreparedHead> head = read_prepared_head(path);
  if (!head) return head.error();
  Plan& plan = head->plan.plan;
  const Provenance provenance = plan.provenance;
  const std::vector<std::string_view> kernels = kernel_names(plan);
  if (!runs_here(provenance.machine_key, options_of_key(provenance.machine_key).threads, kernels))
    return other_machine(provenance, path);
  if (std::ranges::any_of(kernels, &is_onednn_kernel)) initialize_kernels();
  const Result<int> threads = threads_for(provenance, options.cpu, path);
  if (!threads) return threads.error();
  const std::vector<Violation> violations = verify(head->graph, plan);
  if (!violations.empty()) {
    return Error{ErrorCode::mismatch, "the plan is wrong for this model: " + violations[0].message, shown_path(path)};
  }
  Result<ModelWeights> opened = ModelWeights::open(path, std::move(head->constants));
  if (!opened) return opened.error();
  const auto weights = std::make_shared<ModelWeights>(*std::move(opened));
  for (ConstantId id : constants_of(head->graph)) {
    if (weights->table().sources.contains(id)) LOWTIDE_RETURN_IF_ERROR(weights->hold(id));
  }
  Result<std::shared_ptr<const Executable>> executable =
      Executable::prepare(std::move(head->graph), std::move(plan), weights,
                          {.threads = *threads, .system_threads = options.system_threads});
  if (!executable) {
    // A kernel may need instructions that this machine does not have.
    const bool is_missing = executable.error().code == ErrorCode::unsupported;
    return is_missing && !is_key_of_machine(provenance.machine_key) ? other_machine(provenance, path)
                                                                    : executable.error();
  }
  LOWTIDE_RETURN_IF_ERROR(weights->check_files());
  return OpenedModel{*std::move(executable),         head->model_nodes, Bytes(0), Bytes(0), {},
                     std::move(head->default_inputs)};
}

}  // namespace engine_internal

}  // namespace lowtide
