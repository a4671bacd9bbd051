// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/inspect/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"
#include "lowtide/runtime/inspect/lives.h"

namespace lowtide::runtime_internal {
namespace {

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// What the handler of a fault needs. One run at a time is guarded.
struct FaultTarget {
  const GuardedBlocks* blocks = nullptr;
  const void* address = nullptr;
  sigjmp_buf resume{};
  struct sigaction old_segv {};
  struct sigaction old_bus {};
};
FaultTarget* fault_target = nullptr;

void on_fault(int /*signal*/, siginfo_t* info, void* /*context*/) {
  FaultTarget* target = fault_target;
  if (target->blocks->contains(info->si_addr)) {
    target->address = info->si_addr;
    siglongjmp(target->resume, 1);
  }
  // The access is repeated, and the handlers of before see it.
  sigaction(SIGSEGV, &target->old_segv, nullptr);
  sigaction(SIGBUS, &target->old_bus, nullptr);
}

// The largest element of the values of each buffer; 64 for scratch, as kernels demand.
IdVector<BufferId, std::size_t> alignments(const PreparedGraph& in) {
  const Layout& layout = in.plan.layout;
  IdVector<BufferId, std::size_t> all(layout.buffers.size(), 1);
  for (BufferId id : all_ids<BufferId>(all.size())) {
    if (layout.buffers[id].kind == BufferKind::scratch) all[id] = 64;
  }
  for (ValueId id : all_ids<ValueId>(layout.values.size())) {
    const DType dtype = in.graph.tensor(in.plan.program.values[id].tensor).dtype;
    std::size_t& alignment = all[layout.values[id].buffer];
    alignment = std::max(alignment, static_cast<std::size_t>(std::max(bits_of(dtype).value_or(8) / 8, 1)));
  }
  return all;
}

// A tensor in the buffer, or the step that has it as scratch.
IdVector<BufferId, std::string> names(const PreparedGraph& in) {
  const Layout& layout = in.plan.layout;
  IdVector<BufferId, std::string> all(layout.buffers.size());
  for (ValueId id : all_ids<ValueId>(layout.values.size())) {
    std::string& name = all[layout.values[id].buffer];
    if (name.empty())
      name = "the buffer of " + quoted(in.path + in.graph.tensor(in.plan.program.values[id].tensor).name);
  }
  for (StepId id : all_ids<StepId>(layout.steps.size())) {
    if (const std::optional<BufferId> scratch = layout.steps[id].scratch) {
      all[*scratch] = "the scratch of step " + std::to_string(id.value());
    }
  }
  return all;
}

}  // namespace

GuardedBlocks::~GuardedBlocks() {
  for (const Block& block : blocks_) munmap(block.mapped, block.length);
}

std::byte* GuardedBlocks::add(std::size_t size, std::size_t alignment, std::string name) {
  const std::size_t page = page_size();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  const std::size_t inside = std::max((rounded + page - 1) / page * page, page);
  const std::size_t length = inside + 2 * page;
  void* mapped = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* start = static_cast<std::byte*>(mapped);
  if (mprotect(start + page, inside, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapped, length);
    throw std::bad_alloc();
  }
  std::byte* begin = start + page + (side_ == GuardSide::after ? inside - rounded : 0);
  blocks_.push_back({start, length, begin, size, std::move(name)});
  return begin;
}

bool GuardedBlocks::contains(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return std::ranges::any_of(blocks_,
                             [&](const Block& one) { return at >= one.mapped && at < one.mapped + one.length; });
}

std::optional<std::string> GuardedBlocks::describe(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  for (const Block& block : blocks_) {
    if (at < block.mapped || at >= block.mapped + block.length) continue;
    const bool is_before = at < block.begin;
    const std::ptrdiff_t distance = is_before ? block.begin - at : at - (block.begin + block.size) + 1;
    return with_count(distance, "byte") + (is_before ? " before " : " after ") + block.name;
  }
  return std::nullopt;
}

GuardedAddresses::GuardedAddresses(const Prepared& prepared, const SessionBytes& memory, GuardedBlocks& blocks)
    : Addresses(prepared, memory) {
  for (const PreparedGraph& in : prepared.graphs) {
    const IdVector<BufferId, std::int64_t> size = used_bytes(in);
    const IdVector<BufferId, std::size_t> alignment = alignments(in);
    const IdVector<BufferId, std::string> name = names(in);
    IdVector<BufferId, std::byte*> addresses(size.size(), nullptr);
    for (BufferId id : all_ids<BufferId>(size.size())) {
      if (in.plan.layout.buffers[id].placement)
        addresses[id] = blocks.add(static_cast<std::size_t>(size[id]), alignment[id], name[id]);
    }
    buffers_.push_back(std::move(addresses));
  }
}

const void* run_until_fault(const GuardedBlocks& blocks, const std::function<void()>& work) {
  FaultTarget target;
  target.blocks = &blocks;
  struct sigaction action {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  fault_target = &target;
  sigaction(SIGSEGV, &action, &target.old_segv);
  sigaction(SIGBUS, &action, &target.old_bus);
  if (sigsetjmp(target.resume, 1) == 0) work();
  sigaction(SIGSEGV, &target.old_segv, nullptr);
  sigaction(SIGBUS, &target.old_bus, nullptr);
  fault_target = nullptr;
  return target.address;
}

}  // namespace lowtide::runtime_internal
