// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/inspect.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "lowtide/base/no_memory.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/runtime/inspect/guard.h"
#include "lowtide/runtime/inspect/poison.h"
#include "lowtide/runtime/inspect/record.h"
#include "lowtide/runtime/prepare/prepare.h"
#include "lowtide/runtime/run_error.h"

namespace lowtide {
namespace {

using runtime_internal::Difference;
using runtime_internal::GuardedAddresses;
using runtime_internal::GuardedBlocks;
using runtime_internal::GuardSide;
using runtime_internal::kFirstPattern;
using runtime_internal::kSecondPattern;
using runtime_internal::Lives;
using runtime_internal::Pattern;
using runtime_internal::PoisonObserver;
using runtime_internal::Prepared;
using runtime_internal::Probe;
using runtime_internal::Recorder;
using runtime_internal::RecordingObserver;
using runtime_internal::RunTeam;
using runtime_internal::SessionBytes;
using runtime_internal::StepObserver;

// Runs `inspect`, which may throw std::bad_alloc.
template <typename Inspect>
Result<RunInspection> with_memory(const Executable& executable, Inspect inspect) {
  try {
    return inspect();
  } catch (const std::bad_alloc&) {
    return no_memory_error([&] {
      return Error{ErrorCode::no_memory, "the system has no memory to inspect a run",
                   "graph " + quoted(executable.graph().name())};
    });
  }
}

// Turns the end of a run into an error, unless the recorder stopped it.
Result<void> ended(const Executable& executable, Probe& probe, RunStatus status, Recorder& recorder) {
  if (status.code == RunCode::ok) {
    recorder.note_outputs(probe.tables());
  } else if (!recorder.content()) {
    return describe(executable, {status, probe.take_failed_place()});
  }
  return {};
}

// Two runs with other patterns.
class PoisonedRuns {
 public:
  PoisonedRuns(const Executable& executable, std::span<const TensorRef> inputs)
      : executable_(executable), inputs_(inputs), probe_(executable.prepared()), lives_(executable.prepared()) {
    written_.resize(lives_.parts().size());
  }

  Result<RunInspection> inspect() {
    Result<std::optional<Difference>> difference = runtime_internal::first_difference(
        executable_.prepared(), [&](Recorder& recorder) { return run(kFirstPattern, recorder); },
        [&](Recorder& recorder) { return run(kSecondPattern, recorder); });
    if (!difference) return difference.error();
    if (!fault_ && *difference) {
      fault_ = (*difference)->value + " depends on bytes that no tensor has: " + (*difference)->what;
    }
    runtime_internal::SeenMemory seen = runtime_internal::seen_memory(executable_.prepared(), lives_, written_);
    return RunInspection{fault_, seen.peak, seen.arena, std::move(seen.buffers)};
  }

 private:
  Result<void> run(const Pattern& pattern, Recorder& recorder) {
    if (fault_) return {};
    PoisonObserver observer(probe_, lives_, pattern, recorder);
    probe_.set_inputs(inputs_);
    RunTeam team(executable_.prepared().workers.get());
    const RunStatus status = probe_.run(observer, team.team());
    for (std::size_t at = 0; at < written_.size(); ++at) {
      written_[at] = std::max(written_[at], observer.written()[at]);
    }
    fault_ = observer.fault();
    if (fault_) return {};
    return ended(executable_, probe_, status, recorder);
  }

  const Executable& executable_;
  std::span<const TensorRef> inputs_;
  Probe probe_;
  Lives lives_;
  std::vector<std::int64_t> written_;
  std::optional<std::string> fault_;
};

// Remembers the step that runs.
class PlaceObserver final : public StepObserver {
 public:
  void begin(PreparedGraphId /*graph*/) override {}
  void before(const RunPlace& place) override { place_ = place; }
  [[nodiscard]] bool after(const RunPlace& /*place*/) override { return true; }
  [[nodiscard]] const RunPlace& place() const { return place_; }

 private:
  RunPlace place_;
};

// The inputs in blocks of their own. Those in the arena are copied to their buffers later.
std::vector<TensorRef> guarded_inputs(const Executable& executable, std::span<const TensorRef> inputs,
                                      GuardedBlocks& blocks) {
  std::vector<TensorRef> guarded(inputs.begin(), inputs.end());
  for (std::size_t at = 0; at < guarded.size(); ++at) {
    const Port& port = executable.inputs()[at];
    if (port.is_in_arena) continue;
    const std::span<const std::byte> bytes = inputs[at].bytes;
    const auto element = static_cast<std::size_t>(std::max(bits_of(port.dtype).value_or(8) / 8, 1));
    std::byte* copy = blocks.add(bytes.size(), element, "input " + quoted(port.name));
    if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
    guarded[at].bytes = {copy, bytes.size()};
  }
  return guarded;
}

// The fault of one run, if there is one.
Result<std::optional<std::string>> run_guarded_once(const Executable& executable, std::span<const TensorRef> inputs,
                                                    GuardSide side) {
  GuardedBlocks blocks(side);
  Probe probe(executable.prepared(), [&](const Prepared& prepared, const SessionBytes& memory) {
    return std::make_unique<GuardedAddresses>(prepared, memory, blocks);
  });
  probe.set_inputs(guarded_inputs(executable, inputs, blocks));
  PlaceObserver observer;
  SoloTeam alone;  // a fault of another thread could not end the run
  RunStatus status;
  const void* address = runtime_internal::run_until_fault(blocks, [&] { status = probe.run(observer, alone); });
  if (address != nullptr) {
    const runtime_internal::PreparedGraph& in = executable.prepared().graphs[observer.place().graph];
    return std::optional(runtime_internal::place_of(in, observer.place().step) + ": accesses the memory " +
                         blocks.describe(address).value_or("outside of its tensors"));
  }
  if (status.code != RunCode::ok) return describe(executable, {status, probe.take_failed_place()});
  return std::optional<std::string>();
}

}  // namespace

Result<RunInspection> run_poisoned(const Executable& executable, std::span<const TensorRef> inputs) {
  return with_memory(executable, [&] { return PoisonedRuns(executable, inputs).inspect(); });
}

Result<RunInspection> run_guarded(const Executable& executable, std::span<const TensorRef> inputs) {
  return with_memory(executable, [&]() -> Result<RunInspection> {
    for (const GuardSide side : {GuardSide::after, GuardSide::before}) {
      Result<std::optional<std::string>> fault = run_guarded_once(executable, inputs, side);
      if (!fault) return fault.error();
      if (*fault) return RunInspection{.fault = *std::move(fault)};
    }
    return RunInspection{};
  });
}

Result<RunInspection> compare_runs(const Executable& one, const Executable& other, std::span<const TensorRef> inputs) {
  LOWTIDE_CHECK(one.plan().program == other.plan().program, "runs that are compared have the same steps");
  return with_memory(one, [&]() -> Result<RunInspection> {
    // The arenas begin with other bytes, so that a result that depends on them differs.
    const auto run = [&](const Executable& executable, const Pattern& pattern, Recorder& recorder) {
      Probe probe(executable.prepared());
      probe.fill(pattern);
      probe.set_inputs(inputs);
      RecordingObserver observer(probe.tables(), recorder);
      RunTeam team(executable.prepared().workers.get());
      const RunStatus status = probe.run(observer, team.team());
      return ended(executable, probe, status, recorder);
    };
    Result<std::optional<Difference>> difference = runtime_internal::first_difference(
        one.prepared(), [&](Recorder& recorder) { return run(one, kFirstPattern, recorder); },
        [&](Recorder& recorder) { return run(other, kSecondPattern, recorder); });
    if (!difference) return difference.error();
    if (!*difference) return RunInspection{};
    return RunInspection{.fault = (*difference)->value + " differs: " + (*difference)->what};
  });
}

Result<RunInspection> compare_without_reuse(const Executable& executable, std::span<const TensorRef> inputs) {
  const Prepared& prepared = executable.prepared();
  LOWTIDE_TRY(std::shared_ptr<const Executable> apart,
              Executable::prepare(prepared.graph, no_reuse_plan(prepared.graph, prepared.plan), prepared.weights,
                                  prepared.options));
  return compare_runs(executable, *apart, inputs);
}

}  // namespace lowtide
