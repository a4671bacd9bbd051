// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <utility>

#include "lowtide/base/result.h"

// How functions of the library are called from Python: outcomes become exceptions, and long work can be interrupted.
namespace lowtide::python {

namespace nb = nanobind;

// Keys that Python names, and values of several types. The stubs say so.
using AnyDict = nb::typed<nb::dict, nb::str, nb::any>;

// Bad input, on its way to Python, where it becomes a subclass of lowtide.Error.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

// Returns the value, or throws Failure.
template <typename T>
T take(Result<T> result) {
  if (!result.ok()) throw Failure(result.error());
  return *std::move(result);
}
inline void take(const Result<void>& result) {
  if (!result.ok()) throw Failure(result.error());
}

// Makes Failure an exception of lowtide._errors, and InvariantViolation a lowtide.InternalError.
void register_exceptions();

// Calls `work(stop)` on another thread, without the GIL. Meanwhile, this thread lets Python handle signals. If a
// handler raises, as that of Ctrl-C does, `stop` becomes true. What it raised is thrown once the work has ended.
template <typename Work>
auto call_interruptibly(Work work) {
  std::atomic<bool> stop = false;
  const std::atomic<bool>* const is_stopped = &stop;
  auto result = std::async(std::launch::async, [&] { return work(is_stopped); });
  while (true) {
    {
      const nb::gil_scoped_release release;
      if (result.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready) break;
    }
    if (PyErr_CheckSignals() == 0) continue;
    nb::python_error raised;  // takes the exception over
    stop = true;
    {
      const nb::gil_scoped_release release;
      result.wait();
    }
    throw raised;
  }
  return result.get();
}

}  // namespace lowtide::python
