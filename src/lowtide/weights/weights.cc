// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/weights/weights.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/weights/mapped_file.h"
#include "lowtide/weights/synthetic.h"

namespace lowtide {
namespace {

using weights_internal::MappedFile;

constexpr Bytes kLeastMapped{4096};  // the smallest page of a system that Lowtide runs on
constexpr std::size_t kCopiedAtOnce = std::size_t{1} << 20;

Result<OwnedBytes> allocate(const ConstantSource& source) {
  if (std::optional<OwnedBytes> memory = OwnedBytes::allocate(source.size)) return *std::move(memory);
  return Error{ErrorCode::no_memory, "the system has no " + format_bytes(source.size) + " for it",
               "constant " + lowtide::quoted(source.name)};
}

std::string path_of(const std::string& model_path, const std::string& file) {
  return file.empty() ? model_path : (std::filesystem::path(model_path).parent_path() / file).string();
}

}  // namespace

struct ModelWeights::State {
  ConstantTable table;
  IdVector<ConstantFileId, std::optional<MappedFile>> files;  // nullopt: absent, and all its constants are synthetic
  WeightsOptions options;
  IdVector<ConstantId, std::optional<OwnedBytes>> own;  // synthetic values, and copies of bytes of files
  IdVector<ConstantId, std::optional<std::span<const std::byte>>> computed;  // results of load-time work
  std::vector<OwnedBytes> results;                                           // the memory of computed constants

  [[nodiscard]] std::span<const std::byte> in_file(const ConstantSource& source,
                                                   const ConstantSource::InFile& place) const {
    return files[place.file]->bytes().subspan(static_cast<std::size_t>(place.offset),
                                              static_cast<std::size_t>(source.size.count()));
  }

  [[nodiscard]] bool is_synthetic(ConstantId id) const {
    const auto* place = std::get_if<ConstantSource::InFile>(&table.sources[id].where);
    return place != nullptr && !files[place->file];
  }

  void check_computed(ConstantId id, std::size_t size) const {
    LOWTIDE_CHECK(table.sources.contains(id), "a computed constant is in the table");
    const ConstantSource& source = table.sources[id];
    LOWTIDE_CHECK(std::holds_alternative<ConstantSource::Computed>(source.where) && !computed[id],
                  "load-time work gives a computed constant its bytes once");
    LOWTIDE_CHECK(static_cast<std::int64_t>(size) == source.size.count(), "a constant has the size of its type");
  }
};

namespace {

// A process may often open 1,024 files, and a model can have a file per tensor.
constexpr std::size_t kMostOpenFiles = 16;

Result<std::optional<MappedFile>> map_file(const std::string& path, bool may_be_absent, bool keeps_open) {
  std::error_code ignored;
  if (may_be_absent && !std::filesystem::exists(path, ignored)) return std::optional<MappedFile>();
  LOWTIDE_TRY(MappedFile file, MappedFile::open(path, keeps_open));
  return std::optional<MappedFile>(std::move(file));
}

Result<void> check_range(const ConstantSource& source, std::int64_t offset, std::span<const std::byte> file,
                         const std::string& path) {
  const std::int64_t end = offset + source.size.count();  // check_constants refuses an overflow
  if (end <= static_cast<std::int64_t>(file.size())) return {};
  return Error{ErrorCode::invalid,
               "the file has " + std::to_string(file.size()) + " bytes, but constant " + lowtide::quoted(source.name) +
                   " ends at byte " + std::to_string(end) + "; get the complete file",
               shown_path(path)};
}

}  // namespace

Result<ModelWeights> ModelWeights::open(const std::string& model_path, ConstantTable table,
                                        const WeightsOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(check_constants(table));
  auto state = std::make_unique<State>();
  state->table = std::move(table);
  state->options = options;
  state->own.resize(state->table.sources.size());
  state->computed.resize(state->table.sources.size());
  for (const std::string& file : state->table.files) {
    LOWTIDE_TRY(std::optional<MappedFile> mapped,
                map_file(path_of(model_path, file), options.synthetic_seed.has_value() && !file.empty(),
                         state->files.size() < kMostOpenFiles));
    state->files.push_back(std::move(mapped));
  }
  for (ConstantId id : all_ids<ConstantId>(state->table.sources.size())) {
    const ConstantSource& source = state->table.sources[id];
    const auto* place = std::get_if<ConstantSource::InFile>(&source.where);
    if (place == nullptr || !state->files[place->file]) continue;
    LOWTIDE_RETURN_IF_ERROR(check_range(source, place->offset, state->files[place->file]->bytes(),
                                        path_of(model_path, state->table.files[place->file])));
  }
  ModelWeights weights(std::move(state));
  if (options.makes_synthetic_later) return weights;
  for (ConstantId id : all_ids<ConstantId>(weights.table().sources.size())) {
    LOWTIDE_RETURN_IF_ERROR(weights.make_synthetic(id));
  }
  return weights;
}

ModelWeights::ModelWeights(std::unique_ptr<State> state) : state_(std::move(state)) {}
ModelWeights::ModelWeights(ModelWeights&&) noexcept = default;
ModelWeights& ModelWeights::operator=(ModelWeights&&) noexcept = default;
ModelWeights::~ModelWeights() = default;

const ConstantTable& ModelWeights::table() const { return state_->table; }

std::optional<std::span<const std::byte>> ModelWeights::bytes(ConstantId id) const {
  LOWTIDE_CHECK(state_->table.sources.contains(id), "a constant whose bytes are read is in the table");
  const ConstantSource& source = state_->table.sources[id];
  if (const auto* here = std::get_if<ConstantSource::Inline>(&source.where)) return here->bytes;
  const auto* place = std::get_if<ConstantSource::InFile>(&source.where);
  if (place == nullptr) return state_->computed[id];
  if (const std::optional<OwnedBytes>& own = state_->own[id]) return own->bytes();
  return state_->is_synthetic(id) ? std::nullopt : std::optional(state_->in_file(source, *place));
}

bool ModelWeights::is_mapped(ConstantId id) const {
  const auto* place = std::get_if<ConstantSource::InFile>(&state_->table.sources[id].where);
  return place != nullptr && state_->files[place->file].has_value() && !state_->own[id];
}

Result<void> ModelWeights::set_computed(ConstantId id, std::span<const std::byte> bytes) {
  state_->check_computed(id, bytes.size());
  LOWTIDE_TRY(OwnedBytes memory, allocate(state_->table.sources[id]));
  std::ranges::copy(bytes, memory.bytes().begin());
  state_->computed[id] = state_->results.emplace_back(std::move(memory)).bytes();
  return {};
}

void ModelWeights::adopt_computed(OwnedBytes adopted, std::span<const ComputedPlace> results) {
  const OwnedBytes& memory = state_->results.emplace_back(std::move(adopted));
  std::vector<Interval<std::size_t>> used;
  for (const ComputedPlace& one : results) {
    const auto size = static_cast<std::size_t>(state_->table.sources[one.id].size.count());
    state_->check_computed(one.id, size);
    LOWTIDE_CHECK(one.begin <= memory.bytes().size() && size <= memory.bytes().size() - one.begin,
                  "the memory of a computed constant has all its bytes");
    state_->computed[one.id] = memory.bytes().subspan(one.begin, size);
    used.push_back({one.begin, one.begin + size});
  }
  std::ranges::sort(used);
  std::size_t end = 0;
  for (const Interval<std::size_t>& one : used) {
    if (end < one.begin) memory.drop({end, one.begin});
    end = std::max(end, one.end);
  }
  memory.drop({end, memory.bytes().size()});
}

Result<void> ModelWeights::make_synthetic(ConstantId id) {
  LOWTIDE_CHECK(state_->table.sources.contains(id), "a synthetic constant is in the table");
  if (!state_->is_synthetic(id) || state_->own[id]) return {};
  const ConstantSource& source = state_->table.sources[id];
  LOWTIDE_TRY(OwnedBytes memory, allocate(source));
  LOWTIDE_RETURN_IF_ERROR(fill_synthetic(source, *state_->options.synthetic_seed, memory.bytes()));
  state_->own[id] = std::move(memory);
  return {};
}

Result<void> ModelWeights::hold(ConstantId id) {
  LOWTIDE_RETURN_IF_ERROR(make_synthetic(id));
  if (!is_mapped(id)) return {};
  const ConstantSource& source = state_->table.sources[id];
  const auto address = reinterpret_cast<std::uintptr_t>(bytes(id)->data());
  const auto element = static_cast<std::uintptr_t>(std::max(bits_of(source.dtype).value_or(8) / 8, 1));
  if (address % element == 0 && source.size >= kLeastMapped) return {};
  LOWTIDE_TRY(OwnedBytes memory, allocate(source));
  copy_out(id, memory.bytes());
  state_->own[id] = std::move(memory);
  return {};
}

void ModelWeights::drop(ConstantId id) const {
  LOWTIDE_CHECK(state_->table.sources.contains(id), "a constant that is dropped is in the table");
  const ConstantSource& source = state_->table.sources[id];
  const auto* place = std::get_if<ConstantSource::InFile>(&source.where);
  if (place == nullptr || !state_->files[place->file]) return;
  state_->files[place->file]->drop(place->offset, place->offset + source.size.count());
}

void ModelWeights::copy_out(ConstantId id, std::span<std::byte> to) const {
  const std::optional<std::span<const std::byte>> from = bytes(id);
  LOWTIDE_CHECK(from && from->size() == to.size(), "a constant is copied into as many bytes as it has");
  for (std::size_t at = 0; at < to.size(); at += kCopiedAtOnce) {
    const std::size_t count = std::min(kCopiedAtOnce, to.size() - at);
    std::ranges::copy(from->subspan(at, count), to.begin() + static_cast<std::ptrdiff_t>(at));
    if (!is_mapped(id)) continue;
    // Once more with the part before: one page may have bytes of both, and the system maps pages around those read.
    const auto begin = static_cast<std::int64_t>(at - std::min(at, kCopiedAtOnce));
    const auto& place = std::get<ConstantSource::InFile>(state_->table.sources[id].where);
    state_->files[place.file]->drop(place.offset + begin, place.offset + static_cast<std::int64_t>(at + count));
  }
}

void ModelWeights::drop_files() const {
  for (const std::optional<MappedFile>& file : state_->files) {
    if (file) file->drop(0, static_cast<std::int64_t>(file->bytes().size()));
  }
}

void ModelWeights::release(ConstantId id) {
  drop(id);
  state_->own[id].reset();
}

bool ModelWeights::has_lost_bytes() const noexcept {
  return std::ranges::any_of(state_->files, [](const auto& file) { return file && file->has_lost_bytes(); });
}

Result<void> ModelWeights::check_files() const {
  for (const std::optional<MappedFile>& file : state_->files) {
    if (file) LOWTIDE_RETURN_IF_ERROR(file->check_unchanged());
  }
  return {};
}

}  // namespace lowtide
