// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/lower.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/lower/passes.h"
#include "lowtide/lower/run_passes.h"

namespace lowtide {

LowerOptions options_for_kernels(std::shared_ptr<const KernelFormats> machine) {
  return {.passes = passes_for(PassUse::always) | passes_for(PassUse::kernels), .machine = std::move(machine)};
}

Result<Lowered> lower(const Graph& graph, const LowerOptions& options) {
  return lower_internal::run_passes(all_passes(), graph, options);
}

bool depend_on_machine(const std::vector<std::string>& passes) {
  return std::ranges::any_of(passes, [](const std::string& name) {
    const Pass* pass = find_pass(name);
    return pass != nullptr && pass->traits.has(PassTrait::asks_machine);
  });
}

Result<LowerOptions> lower_options(const std::vector<std::string>& passes,
                                   std::shared_ptr<const KernelFormats> machine) {
  LowerOptions options{.passes = {}, .machine = std::move(machine)};
  const std::string place = "$.provenance.lowering";
  const Pass* last = nullptr;
  for (const std::string& name : passes) {
    const Pass* pass = find_pass(name);
    if (pass == nullptr)
      return Error{ErrorCode::unsupported, "this program has no lowering pass " + quoted(name, 40), place};
    if (pass == last) return Error{ErrorCode::invalid, "the pass " + quoted(name) + " is listed twice", place};
    if (last != nullptr && pass->id < last->id) {
      return Error{ErrorCode::invalid,
                   "the pass " + quoted(name) + " is listed after " + quoted(last->name) + ", but runs before it",
                   place};
    }
    options.passes.insert(pass->id);
    last = pass;
  }
  return options;
}

}  // namespace lowtide
