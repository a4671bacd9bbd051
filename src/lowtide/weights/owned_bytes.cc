// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/weights/owned_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace lowtide {
namespace {

constexpr std::align_val_t kAlignment{64};

std::byte* map_pages(std::size_t count) noexcept {
  void* data = mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

std::byte* take_from_heap(std::size_t count) noexcept {
  auto* data = static_cast<std::byte*>(::operator new[](std::max<std::size_t>(count, 1), kAlignment, std::nothrow));
  if (data != nullptr) std::fill_n(data, count, std::byte{0});
  return data;
}

}  // namespace

std::optional<OwnedBytes> OwnedBytes::allocate(Bytes size) noexcept {
  OwnedBytes memory;
  const auto count = static_cast<std::size_t>(size.count());
  memory.is_mapped_ = size >= kLeastMapped;
  memory.data_ = memory.is_mapped_ ? map_pages(count) : take_from_heap(count);
  if (memory.data_ == nullptr) return std::nullopt;
  memory.size_ = count;
  return memory;
}

OwnedBytes::OwnedBytes(OwnedBytes&& other) noexcept { *this = std::move(other); }

OwnedBytes& OwnedBytes::operator=(OwnedBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(is_mapped_, other.is_mapped_);
  return *this;
}

OwnedBytes::~OwnedBytes() {
  if (data_ == nullptr) return;
  if (is_mapped_) {
    munmap(data_, size_);
  } else {
    ::operator delete[](data_, kAlignment);
  }
}

void OwnedBytes::drop(Interval<std::size_t> range) const noexcept {
  if (!is_mapped_) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t begin = (range.begin + page - 1) / page * page;
  // The last page belongs to this memory alone, up to its end.
  const std::size_t end = range.end == size_ ? (size_ + page - 1) / page * page : range.end / page * page;
  if (begin < end) madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

}  // namespace lowtide
