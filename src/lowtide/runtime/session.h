// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/runtime/arena.h"
#include "lowtide/runtime/executable.h"
#include "lowtide/runtime/memory.h"
#include "lowtide/runtime/port.h"
#include "lowtide/runtime/run_place.h"

namespace lowtide {

namespace runtime_internal {
class StepObserver;
}  // namespace runtime_internal

// How a run ended, and the step that ended it. describe() (run_error.h) makes a message of it.
struct RunResult {
  RunStatus status;
  std::optional<RunPlace> place;  // the innermost step; nullopt: no step did, as for RunCode::unbound
  [[nodiscard]] bool ok() const { return status.code == RunCode::ok; }
};

// An output after a run. Its bytes are in the arena, in memory of the caller, or in a constant. Valid until the next
// run in the same arena, or until a new address is bound.
struct OutputRef {
  DType dtype = DType::f32;
  std::span<const std::int64_t> extents;  // of this run
  std::span<const std::byte> bytes;       // of this run
};

struct SessionOptions {
  // Makes all memory of a run present, and runs each kernel once, on zeros. Then the first run is like every other. It
  // costs about one run, and overwrites the arena. False: the first run has page faults and may allocate memory.
  bool touch = true;
  // For what links take out of the arena and bring back: at least ExecutableMemory::outside. Sessions that never run at
  // the same time may have one. nullopt: the session has memory of its own.
  std::optional<Arena> outside = std::nullopt;
  // While it is true, runs end with RunCode::stopped before their next step or iteration. Another thread or a signal
  // handler may set it. It must outlive the session. nullptr: only Session::stop() ends a run.
  const std::atomic<bool>* stop = nullptr;
};

// Runs an executable in an arena. Movable. One thread at a time may call it, except stop().
//
//   Result<Arena> arena = Arena::allocate(executable->required_bytes());
//   Result<Session> session = Session::open(executable, *arena);
//   Result<void> bound = session->bind_input("x", {DType::f32, extents, bytes});
//   RunResult result = session->run();
//   OutputRef y = session->output(0);
class Session {
 public:
  // Errors: (over_limit) the arena is smaller than required_bytes(), or SessionOptions::outside than
  // ExecutableMemory::outside, with both numbers; (invalid) the two overlap, or they are to be touched, but another
  // session runs in one of them; (no_memory).
  [[nodiscard]] static Result<Session> open(std::shared_ptr<const Executable> executable, const Arena& arena,
                                            const SessionOptions& options = {});

  // Does what kernels need once per thread, and touches the stack. open() does it for its own thread, if it touches
  // memory. Another thread calls it before its first run, which otherwise has page faults and may allocate memory. It
  // loads the library of kernels, because models that are opened later may use it.
  static void prepare_thread();

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Sets where an input is. Nothing is copied, so the bytes must stay valid until the run has ended or another address
  // is bound. Errors (invalid), with both values: no input has the name, or it is in the arena; another element type,
  // shape or number of bytes; an address that is not a multiple of the element size; bytes that overlap the arena or a
  // state. After an error, the earlier address stays.
  [[nodiscard]] Result<void> bind_input(std::string_view name, const TensorRef& tensor);

  // The memory of an input that is in the arena (Port::is_in_arena). The caller writes it before each run. Errors
  // (invalid): no such input has the name.
  [[nodiscard]] Result<std::span<std::byte>> arena_input(std::string_view name);

  // Sets where a state is, for example memory of the caller for an output (`plan --outputs caller`). A session begins
  // with states of its own that are zero. Bytes without an address give the state the memory of the session again, with
  // the content that it had. Errors (invalid): as for bind_input, and bytes that overlap an input.
  [[nodiscard]] Result<void> bind_state(std::string_view name, std::span<std::byte> bytes);

  // Runs all steps. Every input must be bound. Allocates nothing, except small objects of oneDNN's kernels unless
  // KernelProcess::keeps_runs_off_heap says otherwise. Calls nothing of the system, and has no page faults except those
  // of memory that the caller bound. After a run that failed, outputs and states are undefined, and the
  // session can run again.
  //
  // With several threads, or with copies over links, the other threads belong to the executable. Only one run at a time
  // can use them. A run that begins meanwhile takes one thread, with the same results. The other threads look for work
  // during the whole run and for some 0.1 ms afterwards, and then sleep. A run that finds them asleep wakes them with
  // one system call. Each that is about to sleep may make one call of its own. There are no other calls.
  RunResult run() noexcept;

  // Does what run() does, but no steps run side by side, and it adds the seconds that each step took. Requires:
  // `seconds` has one entry per step of the plan.
  RunResult run_timed(IdVector<StepId, double>& seconds) noexcept;

  // For the rest of this room.
  RunResult run_observed(runtime_internal::StepObserver& observer) noexcept;

  // Requires: `position` < outputs().size() of the executable, and the last run succeeded.
  [[nodiscard]] OutputRef output(std::size_t position) const;

  // The tensors whose size depends on data: what the plan reserves, and the most that a run of this session needed. In
  // the order of the tensors, those of bodies last. The plan is valid for every run, so nothing grows.
  [[nodiscard]] std::vector<DynamicSize> dynamic_sizes() const;

  // Checks that the files of the constants are as they were when the model was loaded. A run reads them where they are
  // mapped, so the result of a run is right if this succeeds afterwards. Another file at the same path, or none, is no
  // change, because the map is of the file that was opened. If no constant is mapped, it succeeds. Errors: (mismatch)
  // the file that changed; (io). One system call per file.
  [[nodiscard]] Result<void> check_files() const;

  // The run in progress ends with RunCode::stopped before its next step or iteration. Without a run in progress it does
  // nothing. Any thread or signal handler may call it.
  void stop() noexcept;

  [[nodiscard]] const Executable& executable() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace lowtide
