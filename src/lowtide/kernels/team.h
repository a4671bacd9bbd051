// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace lowtide {

// The threads that run one kernel together. Room `runtime` implements it. A kernel gets it for the time of its run. The
// system may run a team of `threads()` on fewer threads of its own, so a share must not wait for another one.
class Team {
 public:
  // A share of the work. `context` is what the kernel passed; `thread` is in [0, threads()).
  using Share = void (*)(void* context, int thread) noexcept;

  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  virtual ~Team() = default;

  [[nodiscard]] virtual int threads() const = 0;  // >= 1
  // Calls share(context, i) once for each i < threads(), the first on the calling thread, and returns when all calls
  // have returned. What the caller wrote before is visible to all of them, and what they wrote is visible afterwards.
  // Allocates nothing. Must not be called from a share.
  virtual void run(Share share, void* context) noexcept = 0;
};

// A team of one thread: run() is a plain call.
class SoloTeam final : public Team {
 public:
  [[nodiscard]] int threads() const override { return 1; }
  void run(Share share, void* context) noexcept override { share(context, 0); }
};

}  // namespace lowtide
