// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

namespace lowtide::cli_internal {

// Owns an open file descriptor, or none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      static_cast<void>(close());
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { static_cast<void>(close()); }

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }
  // Returns the result of ::close, or 0 if nothing was open.
  int close() { return number_ < 0 ? 0 : ::close(std::exchange(number_, -1)); }

 private:
  int number_ = -1;
};

// The system's message for an errno. std::strerror is not safe here, because the progress line has its own thread.
[[nodiscard]] inline std::string reason_of(int error) { return std::generic_category().message(error); }

}  // namespace lowtide::cli_internal
