// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/searches.h"

#include <cstdint>
#include <optional>

#include "lowtide/allocate/exact/exact_problem.h"
#include "lowtide/allocate/improve/descent.h"
#include "lowtide/allocate/improve/ejection.h"

namespace lowtide::allocate_internal {
namespace {

Descent* descent_of(StrategyContext& context) { return context.descent ? &*context.descent : nullptr; }

class SearchTarget final : public Strategy {
 public:
  explicit SearchTarget(StrategyContext& context) : context_(context) {}
  void run(std::int64_t limit) override { context_.search_target(descent_of(context_), limit); }

 private:
  StrategyContext& context_;
};

class SearchBetween final : public Strategy {
 public:
  explicit SearchBetween(StrategyContext& context) : context_(context) {}
  void run(std::int64_t limit) override { context_.search_between(descent_of(context_), limit); }

 private:
  StrategyContext& context_;
};

class SearchAsSets final : public Strategy {
 public:
  explicit SearchAsSets(StrategyContext& context) : context_(context) {}

  void run(std::int64_t limit) override {
    if (!sets_) prepare();
    context_.search_target(descent_ ? &*descent_ : nullptr, limit);
  }

 private:
  void prepare() {
    if (!context_.exact || !context_.exact->is_of_intervals() || context_.exact->task() == nullptr) return;
    sets_ = ExactProblem::of_sets(context_.problem, context_.effort);
    if (sets_->task() == nullptr) return;
    descent_.emplace(context_.problem, *sets_->task(), context_.stopping.bound(), context_.stopping.target(),
                     context_.threads);
  }

  StrategyContext& context_;
  std::unique_ptr<ExactProblem> sets_;
  std::optional<Descent> descent_;
};

class SearchWithinUnit final : public Strategy {
 public:
  explicit SearchWithinUnit(StrategyContext& context) : context_(context) {}

  void run(std::int64_t limit) override {
    const SearchTask* task = context_.exact_task();
    if (task == nullptr) return;
    const std::int64_t bound = context_.stopping.bound();
    Descent descent(context_.problem, *task, bound, bound, context_.threads);
    context_.search_target(&descent, limit);
  }

 private:
  StrategyContext& context_;
};

class EjectionStrategy final : public Strategy {
 public:
  explicit EjectionStrategy(StrategyContext& context) : context_(context) {}

  void run(std::int64_t limit) override {
    Effort share = context_.effort.share(limit);
    const EjectionOptions options{.bound = context_.stopping.target(), .seed = ++seed_};
    (void)lower_by_ejection(context_.problem, context_.graph(), options, context_.best, share);
    context_.effort.spend(share.spent);
  }

 private:
  StrategyContext& context_;
  std::uint64_t seed_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_search_target(StrategyContext& context, std::span<const StrategyRow> /*rows*/) {
  return std::make_unique<SearchTarget>(context);
}

std::unique_ptr<Strategy> make_search_as_sets(StrategyContext& context, std::span<const StrategyRow> /*rows*/) {
  return std::make_unique<SearchAsSets>(context);
}

std::unique_ptr<Strategy> make_search_between(StrategyContext& context, std::span<const StrategyRow> /*rows*/) {
  return std::make_unique<SearchBetween>(context);
}

std::unique_ptr<Strategy> make_search_within_unit(StrategyContext& context, std::span<const StrategyRow> /*rows*/) {
  return std::make_unique<SearchWithinUnit>(context);
}

std::unique_ptr<Strategy> make_ejection(StrategyContext& context, std::span<const StrategyRow> /*rows*/) {
  return std::make_unique<EjectionStrategy>(context);
}

}  // namespace lowtide::allocate_internal
