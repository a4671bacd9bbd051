// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/weights/weights.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/weights/mapped_file.h"
#include "lowtide/weights/synthetic.h"

namespace lowtide {
namespace {

using weights_internal::MappedFile;

struct AlignedDelete {
  void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }
};
using OwnedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

Result<OwnedBytes> allocate(Bytes size, const std::string& name) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(size.count(), 1));
  auto* bytes = static_cast<std::byte*>(::operator new[](count, std::align_val_t{64}, std::nothrow));
  if (bytes != nullptr) return OwnedBytes(bytes);
  return Error{ErrorCode::no_memory, "the system has no " + format_bytes(size) + " for it",
               "constant " + lowtide::quoted(name)};
}

std::string path_of(const std::string& model_path, const std::string& file) {
  return file.empty() ? model_path : (std::filesystem::path(model_path).parent_path() / file).string();
}

}  // namespace

struct ModelWeights::State {
  ConstantTable table;
  IdVector<ConstantFileId, std::optional<MappedFile>> files;  // nullopt: absent, and all its constants are synthetic
  IdVector<ConstantId, OwnedBytes> owned;                     // synthetic and computed constants

  [[nodiscard]] std::span<const std::byte> in_file(const ConstantSource& source,
                                                   const ConstantSource::InFile& place) const {
    return files[place.file]->bytes().subspan(static_cast<std::size_t>(place.offset),
                                              static_cast<std::size_t>(source.size.count()));
  }
};

namespace {

Result<std::optional<MappedFile>> map_file(const std::string& path, bool may_be_absent) {
  std::error_code ignored;
  if (may_be_absent && !std::filesystem::exists(path, ignored)) return std::optional<MappedFile>();
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  return std::optional<MappedFile>(std::move(*file));
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
  state->owned = IdVector<ConstantId, OwnedBytes>();
  state->owned.resize(state->table.sources.size());
  for (const std::string& file : state->table.files) {
    Result<std::optional<MappedFile>> mapped =
        map_file(path_of(model_path, file), options.synthetic_seed.has_value() && !file.empty());
    if (!mapped) return mapped.error();
    state->files.push_back(std::move(*mapped));
  }
  for (ConstantId id : all_ids<ConstantId>(state->table.sources.size())) {
    const ConstantSource& source = state->table.sources[id];
    const auto* place = std::get_if<ConstantSource::InFile>(&source.where);
    if (place == nullptr) continue;
    if (const std::optional<MappedFile>& file = state->files[place->file]) {
      LOWTIDE_RETURN_IF_ERROR(
          check_range(source, place->offset, file->bytes(), path_of(model_path, state->table.files[place->file])));
      continue;
    }
    Result<OwnedBytes> bytes = allocate(source.size, source.name);
    if (!bytes) return bytes.error();
    state->owned[id] = std::move(*bytes);
    LOWTIDE_RETURN_IF_ERROR(fill_synthetic(source, *options.synthetic_seed,
                                           {state->owned[id].get(), static_cast<std::size_t>(source.size.count())}));
  }
  return ModelWeights(std::move(state));
}

ModelWeights::ModelWeights(std::unique_ptr<State> state) : state_(std::move(state)) {}
ModelWeights::ModelWeights(ModelWeights&&) noexcept = default;
ModelWeights& ModelWeights::operator=(ModelWeights&&) noexcept = default;
ModelWeights::~ModelWeights() = default;

const ConstantTable& ModelWeights::table() const { return state_->table; }

std::optional<std::span<const std::byte>> ModelWeights::bytes(ConstantId id) const {
  LOWTIDE_CHECK(state_->table.sources.contains(id), "a constant whose bytes are read is in the table");
  const ConstantSource& source = state_->table.sources[id];
  if (const OwnedBytes& owned = state_->owned[id]) {
    return std::span<const std::byte>(owned.get(), static_cast<std::size_t>(source.size.count()));
  }
  if (const auto* here = std::get_if<ConstantSource::Inline>(&source.where)) return here->bytes;
  if (const auto* place = std::get_if<ConstantSource::InFile>(&source.where)) return state_->in_file(source, *place);
  return std::nullopt;
}

bool ModelWeights::is_mapped(ConstantId id) const {
  const auto* place = std::get_if<ConstantSource::InFile>(&state_->table.sources[id].where);
  return place != nullptr && state_->files[place->file].has_value();
}

Result<void> ModelWeights::set_computed(ConstantId id, std::span<const std::byte> bytes) {
  LOWTIDE_CHECK(state_->table.sources.contains(id), "a computed constant is in the table");
  const ConstantSource& source = state_->table.sources[id];
  LOWTIDE_CHECK(std::holds_alternative<ConstantSource::Computed>(source.where) && !state_->owned[id],
                "load-time work gives a computed constant its bytes once");
  LOWTIDE_CHECK(static_cast<std::int64_t>(bytes.size()) == source.size.count(), "a constant has the size of its type");
  Result<OwnedBytes> owned = allocate(source.size, source.name);
  if (!owned) return owned.error();
  std::copy(bytes.begin(), bytes.end(), owned->get());
  state_->owned[id] = std::move(*owned);
  return {};
}

void ModelWeights::drop(ConstantId id) const {
  LOWTIDE_CHECK(state_->table.sources.contains(id), "a constant that is dropped is in the table");
  const ConstantSource& source = state_->table.sources[id];
  const auto* place = std::get_if<ConstantSource::InFile>(&source.where);
  if (place == nullptr || !state_->files[place->file]) return;
  state_->files[place->file]->drop(place->offset, place->offset + source.size.count());
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
