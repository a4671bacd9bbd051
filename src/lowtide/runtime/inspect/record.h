// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/runtime/inspect/probe.h"

namespace lowtide::runtime_internal {

// A value that a step wrote, or that was an output at the end of the run.
struct ValueRecord {
  RunPlace place;  // of an output: no step, after the last one
  ValueId value;
  std::uint64_t digest = 0;  // of its extents and bytes
  friend bool operator==(const ValueRecord&, const ValueRecord&) = default;
};

// The content of one value.
struct ValueContent {
  DType dtype = DType::f32;
  std::vector<std::int64_t> extents;
  std::vector<std::byte> bytes;
};

// Whether a value that a step writes is complete after it. A copy may be one of several that fill a value, so the value
// is complete only after the last one.
[[nodiscard]] bool completes(const PreparedGraph& in, StepId step, ValueId value);

// Remembers what the steps of a run write. The digests of a whole run take 24 bytes per value that is written.
class Recorder {
 public:
  // Also keeps the content of record `wanted`, and stops the run there.
  explicit Recorder(std::optional<std::size_t> wanted = std::nullopt) : wanted_(wanted) {}

  // Returns false if the run should stop.
  [[nodiscard]] bool note_step(const AllTables& tables, const RunPlace& place);
  void note_outputs(const AllTables& tables);

  [[nodiscard]] const std::vector<ValueRecord>& records() const { return records_; }
  [[nodiscard]] const std::optional<ValueContent>& content() const { return content_; }

 private:
  [[nodiscard]] bool note(GraphTables& tables, const RunPlace& place, ValueId value);

  std::optional<std::size_t> wanted_;
  std::vector<ValueRecord> records_;
  std::optional<ValueContent> content_;
};

// Observes a run and does nothing else.
class RecordingObserver : public StepObserver {
 public:
  RecordingObserver(const AllTables& tables, Recorder& recorder) : tables_(tables), recorder_(recorder) {}
  void begin(PreparedGraphId /*graph*/) override {}
  void before(const RunPlace& /*place*/) override {}
  [[nodiscard]] bool after(const RunPlace& place) override { return recorder_.note_step(tables_, place); }

 private:
  const AllTables& tables_;
  Recorder& recorder_;
};

// A run from its beginning. Errors: those of the run.
using RecordedRun = std::function<Result<void>(Recorder& recorder)>;

// What differs between two runs of the same steps.
struct Difference {
  std::string value;  // "'y' of graph 'g': step 3: ..."
  std::string what;   // "element 5 is 1 in one run and 2 in the other"
};

// Runs both, and then each of them again up to the first difference. `prepared` is that of the first run.
[[nodiscard]] Result<std::optional<Difference>> first_difference(const Prepared& prepared, const RecordedRun& one,
                                                                 const RecordedRun& other);

}  // namespace lowtide::runtime_internal
