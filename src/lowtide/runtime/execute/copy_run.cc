// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "lowtide/runtime/execute/own_kernels.h"

namespace lowtide::runtime_internal {
namespace {

class CopyRun final : public OwnKernel {
 public:
  CopyRun(const CopyAction& action, GraphTables& around)
      : from_(around.bound(action.from).bytes), to_(around.bound(action.to).bytes), bytes_(action.bytes) {
    run = [](BoundKernel* self, Team& /*team*/) { return static_cast<const CopyRun*>(self)->copy(); };
  }

 private:
  // The ranges may be equal or overlap, because a result may lie over the bytes from which it is copied.
  [[nodiscard]] RunStatus copy() const {
    std::memmove(*to_ + bytes_.begin, *from_ + bytes_.begin, static_cast<std::size_t>(bytes_.end - bytes_.begin));
    return {};
  }

  std::byte* const* from_;
  std::byte* const* to_;
  Interval<std::int64_t> bytes_;
};

}  // namespace

std::unique_ptr<OwnKernel> copy_run(const CopyAction& action, GraphTables& around) {
  return std::make_unique<CopyRun>(action, around);
}

}  // namespace lowtide::runtime_internal
