// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/result.h"

namespace lowtide {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::malformed:
      return "malformed";
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::unresolved:
      return "unresolved";
    case ErrorCode::over_limit:
      return "over_limit";
    case ErrorCode::mismatch:
      return "mismatch";
    case ErrorCode::io:
      return "io";
  }
  return "unknown";
}

std::string Error::describe() const { return place.empty() ? message : place + ": " + message; }

}  // namespace lowtide
