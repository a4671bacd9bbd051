// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace lowtide::kernels_internal {

// Keeps answers of oneDNN, because asking it is expensive. If there are too many, it forgets all of them.
// Thread-safe.
template <typename Question, typename Answer>
class Answers {
 public:
  // Returns the answer to a question, from `ask()` if it is not known. If ask() throws, nothing is kept.
  template <typename Ask>
  Answer get(const Question& question, Ask ask) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(question); found != known_.end()) return found->second;
    if (known_.size() == kMost) known_.clear();
    return known_.emplace(question, ask()).first->second;
  }

  void forget() {
    const std::scoped_lock lock(mutex_);
    known_.clear();
  }

 private:
  static constexpr std::size_t kMost = 4096;
  std::mutex mutex_;
  std::map<Question, Answer> known_;
};

}  // namespace lowtide::kernels_internal
