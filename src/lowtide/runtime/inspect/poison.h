// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/runtime/inspect/lives.h"
#include "lowtide/runtime/inspect/record.h"

namespace lowtide::runtime_internal {

// Keeps the pattern in all bytes of the arena that no live tensor has, and finds steps that write them.
//
//   before a step   bytes of buffers that begin to live may have any content from now on
//   after a step    all other bytes must still have the pattern; bytes of buffers that die get it again
class PoisonObserver : public StepObserver {
 public:
  // Fills the arena. Call it before the inputs are set. `written` collects how much of each part a run wrote.
  PoisonObserver(Probe& probe, const Lives& lives, const Pattern& pattern, Recorder& recorder);

  void begin(PreparedGraphId graph) override;
  void before(const RunPlace& place) override;
  [[nodiscard]] bool after(const RunPlace& place) override;
  // A body has ended, or the run.
  void end(PreparedGraphId graph);

  // The first step that wrote bytes that no tensor has; nullopt: none.
  [[nodiscard]] const std::optional<std::string>& fault() const { return fault_; }
  // By Lives::parts(): the bytes of the part up to the last one that differs from the pattern, at the most in any run
  // of its graph.
  [[nodiscard]] const std::vector<std::int64_t>& written() const { return written_; }

 private:
  struct Progress {
    std::size_t begun = 0;  // of Lives::by_begin
    std::size_t ended = 0;  // of Lives::by_end
  };

  void fill(Interval<std::int64_t> bytes);
  void fill_dead(PreparedGraphId graph);
  // Ends the parts that are dead when the next action begins.
  void end_lives(PreparedGraphId graph, StepId next);
  void note_written(std::size_t part);
  void check(const RunPlace& place);

  const Probe& probe_;
  const Lives& lives_;
  Recorder& recorder_;
  std::span<std::byte> arena_;
  std::vector<std::byte> expected_;  // the pattern where no tensor is live
  std::vector<std::byte> mask_;      // 0xFF where no tensor is live, otherwise 0
  IdVector<PreparedGraphId, Progress> progress_;
  std::vector<std::int64_t> written_;
  std::optional<std::string> fault_;
};

}  // namespace lowtide::runtime_internal
