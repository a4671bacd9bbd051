// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/touch.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "lowtide/runtime/prepare/prepared.h"
#include "lowtide/runtime/threads/touch_thread.h"

namespace lowtide::runtime_internal {
namespace {

constexpr std::size_t kPage = 4096;  // the smallest page of a system that Lowtide runs on

// Calls visit(byte) with a byte of each page.
template <typename Byte, typename Visit>
void visit_pages(std::span<Byte> memory, Visit visit) {
  if (memory.empty()) return;
  for (std::size_t at = 0; at < memory.size(); at += kPage) visit(static_cast<volatile Byte&>(memory[at]));
  visit(static_cast<volatile Byte&>(memory.back()));
}

void touch_to_read(std::span<const std::byte> memory) {
  visit_pages(memory, [](const volatile std::byte& byte) { static_cast<void>(static_cast<std::byte>(byte)); });
}

// Keeps the content.
void touch_to_write(std::span<std::byte> memory) {
  visit_pages(memory, [](volatile std::byte& byte) { byte = static_cast<std::byte>(byte); });
}

// Zeros that cannot be written. All pages are the system's page of zeros, so they occupy no memory.
class ZeroPages {
 public:
  explicit ZeroPages(Bytes size) {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(size.count(), 1));
    void* data = mmap(nullptr, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    memory_ = {static_cast<std::byte*>(data), count};
  }
  ZeroPages(const ZeroPages&) = delete;
  ZeroPages& operator=(const ZeroPages&) = delete;
  ~ZeroPages() { munmap(memory_.data(), memory_.size()); }

  [[nodiscard]] std::byte* data() const { return memory_.data(); }

 private:
  std::span<std::byte> memory_;
};

Bytes largest_input(const Executable& executable) {
  Bytes largest;
  for (const Port& port : executable.inputs()) largest = std::max(largest, port.size);
  return largest;
}

void set_inputs(const Executable& executable, GraphTables& tables, std::byte* address) {
  for (const Port& port : executable.inputs()) {
    if (!port.is_in_arena) tables.set_base(port.tensor, address);
  }
}

// A run takes only some bodies, so the kernels of each body run by themselves too.
void run_kernels(SessionMemory& memory, Team& team) {
  memory.control.is_touching = true;
  for (const auto& tables : memory.tables) {
    if (const std::optional<AroundBody>& around = tables->graph().around) {
      tables->take_captures(*memory.tables[around->graph.index()]);
    }
    tables->touch(team);
  }
  memory.control.is_touching = false;
  for (const auto& tables : memory.tables) tables->forget_runs();
}

}  // namespace

bool SessionArenas::acquire() const noexcept {
  if (!arena.acquire()) return false;
  if (!outside || outside->acquire()) return true;
  arena.release();
  return false;
}

void SessionArenas::release() const noexcept {
  if (outside) outside->release();
  arena.release();
}

bool touch(const Executable& executable, const SessionArenas& arenas, SessionMemory& memory) {
  const ZeroPages zeros(largest_input(executable));
  if (!arenas.acquire()) return false;
  touch_thread();
  touch_to_write(arenas.arena.memory());
  touch_to_write(arenas.outside_memory());
  for (const PreparedGraph& graph : executable.prepared().graphs) {
    for (std::span<const std::byte> constant : graph.constants) touch_to_read(constant);
  }
  set_inputs(executable, memory.main(), zeros.data());
  {
    RunTeam team(executable.prepared().workers.get());
    run_kernels(memory, team.team());
  }
  set_inputs(executable, memory.main(), nullptr);
  for (const Port& state : executable.states()) {
    std::byte* own = memory.main().base(state.tensor);
    if (own != nullptr) std::fill_n(own, state.size.count(), std::byte{0});
  }
  arenas.release();
  return true;
}

}  // namespace lowtide::runtime_internal
