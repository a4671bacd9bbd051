// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/flatbuffer/read_tflite.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/flatbuffer/check_tflite.h"
#include "lowtide/tflite/flatbuffer/schema.h"

namespace lowtide {
namespace flatbuffer_internal {
namespace {

static_assert(std::endian::native == std::endian::little, "lists of numbers are read as they are in the file");

constexpr std::uint32_t kFormatVersion = 3;
constexpr std::int64_t kExpansion = 64;
constexpr std::int64_t kFreeBytes = std::int64_t{1} << 16;  // a tiny file may state this much

// Several fields may point to one list or text. So what is copied is limited by the size of the file.
class Reader {
 public:
  explicit Reader(std::string_view bytes)
      : file_(bytes), budget_(kFreeBytes + kExpansion * static_cast<std::int64_t>(bytes.size())) {}

  Result<TfliteModel> read() {
    LOWTIDE_TRY(root_, root_of(file_));
    if (root_->version() != kFormatVersion) {
      return Error{ErrorCode::unsupported,
                   "the file has version " + std::to_string(root_->version()) + " of the format; only version " +
                       std::to_string(kFormatVersion) + " is read",
                   ""};
    }
    model_.version = root_->version();
    model_.description = text(root_->description());
    LOWTIDE_RETURN_IF_ERROR(read_buffers());
    for (std::uint32_t at = 0; at < size_of(root_->subgraphs()); ++at) {
      LOWTIDE_RETURN_IF_ERROR(read_subgraph(*root_->subgraphs()->Get(at), at));
    }
    for (std::uint32_t at = 0; at < size_of(root_->metadata()); ++at) {
      const Metadata& one = *root_->metadata()->Get(at);
      model_.metadata.push_back({text(one.name()), one.buffer()});
    }
    for (std::uint32_t at = 0; at < size_of(root_->signature_defs()); ++at) {
      const SignatureDef& one = *root_->signature_defs()->Get(at);
      model_.signatures.push_back(
          {text(one.signature_key()), one.subgraph_index(), names(one.inputs()), names(one.outputs())});
    }
    LOWTIDE_RETURN_IF_ERROR(check_budget(""));
    LOWTIDE_RETURN_IF_ERROR(check_tflite(model_));
    return std::move(model_);
  }

 private:
  template <typename List>
  static std::uint32_t size_of(const List* list) {
    return list != nullptr ? list->size() : 0;
  }

  // Whether as much as this may still be copied.
  bool take(std::int64_t bytes) {
    budget_ -= bytes;
    return budget_ >= 0;
  }

  Result<void> check_budget(const std::string& place) const {
    if (budget_ >= 0) return {};
    return Error{ErrorCode::over_limit,
                 "the file states more than " + std::to_string(kExpansion) +
                     " times its own size, because many of its parts use the same lists",
                 place};
  }

  std::string text(const flatbuffers::String* from) {
    if (from == nullptr || !take(from->size())) return "";
    return from->str();
  }

  template <typename To, typename From>
  std::vector<To> list(const flatbuffers::Vector<From>* from) {
    if (from == nullptr || !take(static_cast<std::int64_t>(from->size()) * 8)) return {};
    return {from->begin(), from->end()};
  }

  std::vector<std::pair<std::string, std::uint32_t>> names(
      const flatbuffers::Vector<flatbuffers::Offset<TensorMap>>* from) {
    std::vector<std::pair<std::string, std::uint32_t>> read;
    if (!take(static_cast<std::int64_t>(size_of(from)) * 32)) return read;
    for (std::uint32_t at = 0; at < size_of(from); ++at) {
      read.emplace_back(text(from->Get(at)->name()), from->Get(at)->tensor_index());
    }
    return read;
  }

  Result<void> read_buffers() {
    const auto file_size = static_cast<std::uint64_t>(file_.size());
    for (std::uint32_t at = 0; at < size_of(root_->buffers()); ++at) {
      const Buffer& buffer = *root_->buffers()->Get(at);
      const std::string place = "buffer " + std::to_string(at);
      const bool is_outside = buffer.offset() > 1;
      TfliteBytes& bytes = model_.buffers.emplace_back();
      if (buffer.data() != nullptr && buffer.data()->size() > 0) {
        if (is_outside) return invalid("it has bytes inside of the flatbuffer and after it", place);
        bytes = {file_.offset_of(buffer.data()->data()), buffer.data()->size()};
      } else if (is_outside) {
        if (buffer.offset() > file_size || buffer.size() > file_size - buffer.offset()) {
          return Error{ErrorCode::malformed,
                       "it has the " + std::to_string(buffer.size()) + " bytes from " +
                           std::to_string(buffer.offset()) + " on, and the file has " + std::to_string(file_size),
                       place};
        }
        bytes = {static_cast<std::int64_t>(buffer.offset()), static_cast<std::int64_t>(buffer.size())};
      }
    }
    if (model_.buffers.empty()) model_.buffers.emplace_back();  // buffer 0 is empty, and some files omit it
    return {};
  }

  Result<void> read_subgraph(const SubGraph& from, std::uint32_t index) {
    TfliteSubgraph& to = model_.subgraphs.emplace_back();
    to.name = text(from.name());
    const std::string place = subgraph_place(index, to.name);
    for (std::uint32_t at = 0; at < size_of(from.tensors()); ++at) {
      LOWTIDE_TRY(TfliteTensor tensor, read_tensor(*from.tensors()->Get(at), place, at));
      to.tensors.push_back(std::move(tensor));
    }
    for (const auto& [indexes, target] :
         {std::pair(from.inputs(), &to.inputs), std::pair(from.outputs(), &to.outputs)}) {
      for (std::int32_t tensor : list<std::int32_t>(indexes)) {
        if (tensor < 0 || std::cmp_greater_equal(tensor, to.tensors.size())) {
          return invalid(out_of_range(tensor, to.tensors.size()), place);
        }
        target->push_back(static_cast<std::uint32_t>(tensor));
      }
    }
    for (std::uint32_t at = 0; at < size_of(from.operators()); ++at) {
      LOWTIDE_TRY(TfliteOperator op, read_operator(*from.operators()->Get(at), to, place, at));
      to.operators.push_back(std::move(op));
    }
    return check_budget(place);
  }

  static std::string out_of_range(std::int64_t tensor, std::size_t tensors) {
    return "it names tensor " + std::to_string(tensor) + ", and the subgraph has " + std::to_string(tensors) +
           " tensors";
  }

  // The numbers of an index vector, which has one of three types.
  std::vector<std::int64_t> numbers_of(SparseIndexVector type, const void* vector) {
    if (vector == nullptr) return {};
    if (type == SparseIndexVector::Int32Vector) {
      return list<std::int64_t>(static_cast<const Int32Vector*>(vector)->values());
    }
    if (type == SparseIndexVector::Uint16Vector) {
      return list<std::int64_t>(static_cast<const Uint16Vector*>(vector)->values());
    }
    if (type == SparseIndexVector::Uint8Vector) {
      return list<std::int64_t>(static_cast<const Uint8Vector*>(vector)->values());
    }
    return {};
  }

  TfliteSparsity sparsity_of(const SparsityParameters& from) {
    TfliteSparsity to{.order = list<std::int64_t>(from.traversal_order()),
                      .block_axes = list<std::int64_t>(from.block_map()),
                      .levels = {}};
    for (std::uint32_t at = 0; at < size_of(from.dim_metadata()) && take(sizeof(TfliteSparseLevel)); ++at) {
      const DimensionMetadata& level = *from.dim_metadata()->Get(at);
      to.levels.push_back({.is_sparse = level.format() == DimensionType::SPARSE_CSR,
                           .extent = level.dense_size(),
                           .segments = numbers_of(level.array_segments_type(), level.array_segments()),
                           .indices = numbers_of(level.array_indices_type(), level.array_indices())});
    }
    return to;
  }

  Result<TfliteTensor> read_tensor(const Tensor& from, const std::string& around, std::uint32_t index) {
    TfliteTensor tensor{.name = text(from.name()), .buffer = from.buffer(), .is_variable = from.is_variable()};
    const std::string place = tensor_place(around, index, tensor.name);
    const auto number = static_cast<std::int8_t>(from.type());
    if (number < 0 || number > static_cast<std::int8_t>(TfliteType::float8_e5m2)) {
      return Error{ErrorCode::unsupported, "Lowtide knows no element type " + std::to_string(number), place};
    }
    tensor.type = static_cast<TfliteType>(number);
    if (size_of(from.shape()) > limits::kMaxRank) {
      return Error{ErrorCode::over_limit,
                   "it has rank " + std::to_string(from.shape()->size()) + ", above the limit of " +
                       std::to_string(limits::kMaxRank) + " (kMaxRank)",
                   place};
    }
    tensor.shape = list<std::int64_t>(from.shape());
    const auto signature = list<std::int32_t>(from.shape_signature());
    const bool has_open = std::find(signature.begin(), signature.end(), -1) != signature.end();
    if (has_open && signature.size() == tensor.shape.size()) {
      for (std::int32_t extent : signature) tensor.is_open.push_back(extent == -1);
    }
    tensor.is_sparse = from.sparsity() != nullptr;
    if (tensor.is_sparse) tensor.sparsity = sparsity_of(*from.sparsity());
    if (from.external_buffer() != 0) {
      return Error{ErrorCode::unsupported, "its bytes are in another file, which Lowtide does not read", place};
    }
    if (const QuantizationParameters* how = from.quantization()) {
      if (how->details_type() != 0) {
        return Error{ErrorCode::unsupported, "its quantization is not per tensor or per channel", place};
      }
      tensor.quantization = {.scales = list<double>(how->scale()),
                             .zero_points = list<std::int64_t>(how->zero_point()),
                             .axis = how->quantized_dimension()};
    }
    LOWTIDE_RETURN_IF_ERROR(check_budget(place));
    return tensor;
  }

  // Older files have the number of an operator in a field of 8 bits, and some files fill both.
  Result<void> name_operator(const Operator& from, const std::string& place, TfliteOperator& to) {
    if (from.opcode_index() >= size_of(root_->operator_codes())) {
      return invalid("it has operator code " + std::to_string(from.opcode_index()) + ", and the file has " +
                         std::to_string(size_of(root_->operator_codes())) + " codes",
                     place);
    }
    const OperatorCode& code = *root_->operator_codes()->Get(from.opcode_index());
    to.builtin = std::max<std::int32_t>(static_cast<std::int32_t>(code.builtin_code()), code.deprecated_builtin_code());
    to.version = code.version();
    if (to.builtin == kTfliteCustom) {
      to.type = text(code.custom_code());
      if (to.type.empty()) return invalid("it is a custom operator without a name", place);
      return {};
    }
    to.type = builtin_name(to.builtin);
    if (!to.type.empty()) return {};
    return Error{ErrorCode::unsupported, "Lowtide knows no operator " + std::to_string(to.builtin), place};
  }

  Result<TfliteOperator> read_operator(const Operator& from, const TfliteSubgraph& around, const std::string& in,
                                       std::uint32_t index) {
    TfliteOperator op;
    LOWTIDE_RETURN_IF_ERROR(name_operator(from, in + ": operator " + std::to_string(index), op));
    const std::string place = operator_place(in, index, op.type);
    for (const auto& [indexes, target] :
         {std::pair(from.inputs(), &op.inputs), std::pair(from.outputs(), &op.outputs)}) {
      for (std::int32_t tensor : list<std::int32_t>(indexes)) {
        if (tensor < -1 || std::cmp_greater_equal(tensor, around.tensors.size())) {
          return invalid(out_of_range(tensor, around.tensors.size()), place);
        }
        target->push_back(tensor < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(tensor)));
      }
    }
    for (std::int32_t tensor : list<std::int32_t>(from.intermediates())) {
      if (std::cmp_greater_equal(tensor, around.tensors.size())) {
        return invalid(out_of_range(tensor, around.tensors.size()), place);
      }
      if (tensor >= 0) op.intermediates.push_back(static_cast<std::uint32_t>(tensor));
    }
    op.options = options_of(from);
    take(static_cast<std::int64_t>(op.options.size()) * 32);
    for (const TfliteOption& option : op.options) take(length_of(option));
    op.has_unread_options =
        from.builtin_options_2_type() != 0 || (from.builtin_options_type() != BuiltinOptions::NONE &&
                                               op.options.empty() && from.builtin_options_type() > BuiltinOptions::MAX);
    LOWTIDE_RETURN_IF_ERROR(read_custom_options(from, place, op));
    LOWTIDE_RETURN_IF_ERROR(check_budget(place));
    return op;
  }

  static std::int64_t length_of(const TfliteOption& option) {
    const auto length = [](const auto& value) -> std::int64_t {
      if constexpr (requires { value.size(); }) {
        return static_cast<std::int64_t>(value.size()) * 8;
      } else {
        return 8;
      }
    };
    return std::visit(length, option.value);
  }

  Result<void> read_custom_options(const Operator& from, const std::string& place, TfliteOperator& to) const {
    if (size_of(from.custom_options()) > 0) {
      to.custom_options = {file_.offset_of(from.custom_options()->data()), from.custom_options()->size()};
    } else if (from.large_custom_options_offset() > 1) {
      const auto file_size = static_cast<std::uint64_t>(file_.size());
      const std::uint64_t offset = from.large_custom_options_offset();
      if (offset > file_size || from.large_custom_options_size() > file_size - offset) {
        return Error{ErrorCode::malformed, "its custom options are outside of the file", place};
      }
      to.custom_options = {static_cast<std::int64_t>(offset),
                           static_cast<std::int64_t>(from.large_custom_options_size())};
    }
    return {};
  }

  AlignedCopy file_;
  std::int64_t budget_;
  const Model* root_ = nullptr;
  TfliteModel model_;
};

}  // namespace
}  // namespace flatbuffer_internal

bool is_tflite(std::string_view beginning) { return beginning.size() >= 8 && beginning.substr(4, 4) == "TFL3"; }

Result<TfliteModel> read_tflite(std::string_view bytes) { return flatbuffer_internal::Reader(bytes).read(); }

std::optional<int> bits_of(TfliteType type) {
  switch (type) {
    case TfliteType::float64:
    case TfliteType::int64:
    case TfliteType::uint64:
    case TfliteType::complex64: return 64;
    case TfliteType::complex128: return 128;
    case TfliteType::float32:
    case TfliteType::int32:
    case TfliteType::uint32:
    case TfliteType::resource: return 32;
    case TfliteType::float16:
    case TfliteType::bfloat16:
    case TfliteType::int16:
    case TfliteType::uint16: return 16;
    case TfliteType::uint8:
    case TfliteType::int8:
    case TfliteType::boolean:
    case TfliteType::float8_e4m3fn:
    case TfliteType::float8_e5m2: return 8;
    case TfliteType::int4:
    case TfliteType::uint4: return 4;
    case TfliteType::int2: return 2;
    case TfliteType::string:
    case TfliteType::variant: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace lowtide
