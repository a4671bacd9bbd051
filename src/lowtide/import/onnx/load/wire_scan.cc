// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/wire_scan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {
namespace {

enum Message : std::uint8_t {
  kOther,  // a message whose fields are all scalars or text, or a group
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kValueInfo,
  kType,
  kTensorType,   // also the type of sparse tensors
  kWrappedType,  // sequence or optional
  kMapType,
  kShape,
  kFunction,
  kTraining,
  kAnnotation,
  kDevice,
  kSharding,
  kShardedDim,
  kMessages,
};

enum Content : std::uint8_t { kText, kNested, kVarints, kFixed };

// What a length-delimited field contains, and the memory in bytes that it needs.
struct Field {
  Message parent = kOther;
  std::uint32_t number = 0;
  Content content = kText;
  Message child = kOther;
  std::size_t cost = 0;
};

// The memory of a message in a repeated field: the object, the header of the allocation, and the pointer twice,
// because the array of pointers grows.
constexpr std::size_t cost_of(std::size_t object) { return object + 32; }

constexpr std::size_t kDefaultCost = cost_of(64);
constexpr std::size_t kPairCost = cost_of(sizeof(onnx::StringStringEntryProto));
constexpr std::size_t kTensorCost = cost_of(sizeof(onnx::TensorProto));
constexpr std::size_t kSparseCost = cost_of(sizeof(onnx::SparseTensorProto));
constexpr std::size_t kGraphCost = cost_of(sizeof(onnx::GraphProto));
constexpr std::size_t kNodeCost = cost_of(sizeof(onnx::NodeProto));
constexpr std::size_t kAttributeCost = cost_of(sizeof(onnx::AttributeProto));
constexpr std::size_t kValueInfoCost = cost_of(sizeof(onnx::ValueInfoProto));
constexpr std::size_t kTypeCost = cost_of(sizeof(onnx::TypeProto));
constexpr std::size_t kTensorTypeCost = cost_of(sizeof(onnx::TypeProto_Tensor));
constexpr std::size_t kShapeCost = cost_of(sizeof(onnx::TensorShapeProto));
constexpr std::size_t kDimensionCost = cost_of(sizeof(onnx::TensorShapeProto_Dimension));
constexpr std::size_t kOpsetCost = cost_of(sizeof(onnx::OperatorSetIdProto));

constexpr Field kFields[] = {
    {kModel, 7, kNested, kGraph, kGraphCost},
    {kModel, 8, kNested, kOther, kOpsetCost},
    {kModel, 14, kNested, kOther, kPairCost},
    {kModel, 20, kNested, kTraining, kDefaultCost},
    {kModel, 25, kNested, kFunction, cost_of(sizeof(onnx::FunctionProto))},
    {kModel, 26, kNested, kOther, kDefaultCost},
    {kTraining, 1, kNested, kGraph, kGraphCost},
    {kTraining, 2, kNested, kGraph, kGraphCost},
    {kTraining, 3, kNested, kOther, kPairCost},
    {kTraining, 4, kNested, kOther, kPairCost},
    {kFunction, 7, kNested, kNode, kNodeCost},
    {kFunction, 9, kNested, kOther, kOpsetCost},
    {kFunction, 11, kNested, kAttribute, kAttributeCost},
    {kFunction, 12, kNested, kValueInfo, kValueInfoCost},
    {kFunction, 14, kNested, kOther, kPairCost},
    {kGraph, 1, kNested, kNode, kNodeCost},
    {kGraph, 5, kNested, kTensor, kTensorCost},
    {kGraph, 11, kNested, kValueInfo, kValueInfoCost},
    {kGraph, 12, kNested, kValueInfo, kValueInfoCost},
    {kGraph, 13, kNested, kValueInfo, kValueInfoCost},
    {kGraph, 14, kNested, kAnnotation, cost_of(sizeof(onnx::TensorAnnotation))},
    {kGraph, 15, kNested, kSparseTensor, kSparseCost},
    {kGraph, 16, kNested, kOther, kPairCost},
    {kAnnotation, 2, kNested, kOther, kPairCost},
    {kNode, 5, kNested, kAttribute, kAttributeCost},
    {kNode, 9, kNested, kOther, kPairCost},
    {kNode, 10, kNested, kDevice, cost_of(sizeof(onnx::NodeDeviceConfigurationProto))},
    {kDevice, 2, kNested, kSharding, cost_of(sizeof(onnx::ShardingSpecProto))},
    {kSharding, 2, kVarints, kOther, 0},
    {kSharding, 3, kNested, kOther, kDefaultCost},
    {kSharding, 4, kNested, kShardedDim, kDefaultCost},
    {kShardedDim, 2, kNested, kOther, kDefaultCost},
    {kAttribute, 5, kNested, kTensor, kTensorCost},
    {kAttribute, 6, kNested, kGraph, kGraphCost},
    {kAttribute, 7, kFixed, kOther, 0},
    {kAttribute, 8, kVarints, kOther, 0},
    {kAttribute, 10, kNested, kTensor, kTensorCost},
    {kAttribute, 11, kNested, kGraph, kGraphCost},
    {kAttribute, 14, kNested, kType, kTypeCost},
    {kAttribute, 15, kNested, kType, kTypeCost},
    {kAttribute, 22, kNested, kSparseTensor, kSparseCost},
    {kAttribute, 23, kNested, kSparseTensor, kSparseCost},
    {kTensor, 1, kVarints, kOther, 0},
    {kTensor, 3, kNested, kOther, kDefaultCost},
    {kTensor, 4, kFixed, kOther, 0},
    {kTensor, 5, kVarints, kOther, 0},
    {kTensor, 7, kVarints, kOther, 0},
    {kTensor, 10, kFixed, kOther, 0},
    {kTensor, 11, kVarints, kOther, 0},
    {kTensor, 13, kNested, kOther, kPairCost},
    {kTensor, 16, kNested, kOther, kPairCost},
    {kSparseTensor, 1, kNested, kTensor, kTensorCost},
    {kSparseTensor, 2, kNested, kTensor, kTensorCost},
    {kSparseTensor, 3, kVarints, kOther, 0},
    {kValueInfo, 2, kNested, kType, kTypeCost},
    {kValueInfo, 4, kNested, kOther, kPairCost},
    {kType, 1, kNested, kTensorType, kTensorTypeCost},
    {kType, 4, kNested, kWrappedType, kTensorTypeCost},
    {kType, 5, kNested, kMapType, kTensorTypeCost},
    {kType, 7, kNested, kOther, kTensorTypeCost},
    {kType, 8, kNested, kTensorType, kTensorTypeCost},
    {kType, 9, kNested, kWrappedType, kTensorTypeCost},
    {kTensorType, 2, kNested, kShape, kShapeCost},
    {kWrappedType, 1, kNested, kType, kTypeCost},
    {kMapType, 2, kNested, kType, kTypeCost},
    {kShape, 1, kNested, kOther, kDimensionCost},
};

constexpr std::uint32_t kFieldNumbers = 32;  // ONNX uses numbers up to 26
using FieldTable = std::array<std::array<const Field*, kFieldNumbers>, kMessages>;

constexpr FieldTable make_field_table() {
  FieldTable table = {};
  for (const Field& field : kFields) table[field.parent][field.number] = &field;
  return table;
}
constexpr FieldTable kFieldTable = make_field_table();

// The memory of a string: the object, its pointer, and a separate block if the text does not fit into the object.
std::int64_t text_cost(std::size_t length) { return static_cast<std::int64_t>(48 + (length > 15 ? length + 17 : 0)); }

class Scanner {
 public:
  // `bytes` are the file or its beginning.
  Scanner(std::string_view bytes, std::size_t file_bytes)
      : bytes_(bytes), file_bytes_(file_bytes), budget_(parse_budget(static_cast<std::int64_t>(file_bytes))) {}

  Result<WireSummary> scan() {
    stack_.push_back({file_bytes_, kModel, 0});
    while (!stack_.empty()) {
      if (bytes_.size() < file_bytes_ && (at_ > bytes_.size() || bytes_.size() - at_ < kMostFieldHead)) break;
      if (at_ == stack_.back().end) {
        if (stack_.back().group != 0) return malformed("a group is not closed inside its message");
        leave();
        continue;
      }
      LOWTIDE_RETURN_IF_ERROR(scan_field());
      if (summary_.parsed_bytes > budget_) {
        return Error{ErrorCode::over_limit,
                     "parsing this file of " + std::to_string(file_bytes_) + " bytes would need more than " +
                         std::to_string(budget_) + " bytes, the limit of 64 MB + 16 x the file (parse_budget)",
                     place()};
      }
    }
    return summary_;
  }

 private:
  // The most bytes of a tag and of the number, length or eight bytes that follow it.
  static constexpr std::size_t kMostFieldHead = 20;

  struct Frame {
    std::size_t end;
    Message message;
    std::uint32_t group;  // field number of the group; 0 if it is not a group
  };

  [[nodiscard]] std::string place() const { return "byte " + std::to_string(at_); }
  [[nodiscard]] Error malformed(const std::string& message) const { return {ErrorCode::malformed, message, place()}; }

  void leave() {
    if (stack_.back().message == kGraph) --graphs_;
    stack_.pop_back();
  }

  Result<void> enter(Frame frame) {
    stack_.push_back(frame);
    if (frame.message == kGraph) {
      summary_.body_nesting = std::max(summary_.body_nesting, graphs_);
      if (++graphs_ > limits::kMaxBodyNesting + 1) {
        return Error{ErrorCode::over_limit,
                     "graphs inside nodes are nested deeper than " + std::to_string(limits::kMaxBodyNesting) +
                         ", the limit (kMaxBodyNesting)",
                     place()};
      }
    }
    if (stack_.size() > static_cast<std::size_t>(kMaxMessageDepth)) {
      return Error{
          ErrorCode::over_limit,
          "messages are nested deeper than " + std::to_string(kMaxMessageDepth) + ", the limit (kMaxMessageDepth)",
          place()};
    }
    if (frame.message == kNode && ++summary_.nodes > limits::kMaxNodes) {
      return Error{ErrorCode::over_limit,
                   "there are more than " + std::to_string(limits::kMaxNodes) + " nodes, the limit (kMaxNodes)",
                   place()};
    }
    return {};
  }

  // Returns nullopt if the number is longer than 10 bytes or than its message.
  std::optional<std::uint64_t> take_varint() {
    const std::size_t end = std::min(stack_.back().end, at_ + 10);
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ < end; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  Result<void> skip(std::size_t length) {
    if (length > stack_.back().end - at_) return malformed("a number is cut off by the end of its message");
    at_ += length;
    return {};
  }

  Result<void> scan_field() {
    const std::optional<std::uint64_t> tag = take_varint();
    if (!tag) return malformed("a field tag is cut off or longer than 10 bytes");
    const std::uint64_t number = *tag >> 3U;
    if (number == 0 || *tag > 0xFFFFFFFFU)
      return malformed("field number " + std::to_string(number) + " does not exist");
    switch (*tag & 7U) {
      case 0:
        if (!take_varint()) return malformed("a number is cut off or longer than 10 bytes");
        summary_.parsed_bytes += 16;
        return {};
      case 1: summary_.parsed_bytes += 16; return skip(8);
      case 2: return scan_delimited(static_cast<std::uint32_t>(number));
      case 3:
        summary_.parsed_bytes += kDefaultCost;
        return enter({stack_.back().end, kOther, static_cast<std::uint32_t>(number)});
      case 4:
        if (stack_.back().group != number) return malformed("the end of a group has no matching start");
        leave();
        return {};
      case 5: summary_.parsed_bytes += 16; return skip(4);
      default: return malformed("wire type " + std::to_string(*tag & 7U) + " does not exist");
    }
  }

  Result<void> scan_delimited(std::uint32_t number) {
    const std::optional<std::uint64_t> length = take_varint();
    if (!length) return malformed("a length is cut off or longer than 10 bytes");
    const std::size_t available = stack_.back().end - at_;
    if (*length > available) {
      return malformed("a field has length " + std::to_string(*length) + ", but its message has only " +
                       with_count(static_cast<std::int64_t>(available), "byte") + " left");
    }
    const auto size = static_cast<std::size_t>(*length);
    const Field* field = number < kFieldNumbers ? kFieldTable[stack_.back().message][number] : nullptr;
    if (field != nullptr && field->content == kNested) {
      summary_.parsed_bytes += static_cast<std::int64_t>(field->cost);
      return enter({at_ + size, field->child, 0});
    }
    if (field != nullptr && field->content == kVarints) {
      const std::string_view packed = bytes_.substr(at_, size);
      const auto count = std::count_if(packed.begin(), packed.end(), [](char byte) { return (byte & 0x80) == 0; });
      summary_.parsed_bytes += 16 * static_cast<std::int64_t>(count);  // 8 bytes each, in an array that doubles
    } else if (field != nullptr && field->content == kFixed) {
      summary_.parsed_bytes += static_cast<std::int64_t>(size);
    } else {
      summary_.parsed_bytes += text_cost(size);
    }
    at_ += size;
    return {};
  }

  std::string_view bytes_;
  std::size_t file_bytes_;
  std::int64_t budget_;
  std::size_t at_ = 0;
  std::int64_t graphs_ = 0;  // graphs open on the stack
  std::vector<Frame> stack_;
  WireSummary summary_;
};

}  // namespace

std::int64_t parse_budget(std::int64_t file_bytes) { return (std::int64_t{64} << 20) + 16 * file_bytes; }

Result<WireSummary> scan_model(std::string_view bytes) { return Scanner(bytes, bytes.size()).scan(); }

Result<void> scan_head(std::string_view head, std::int64_t file_bytes) {
  const Result<WireSummary> summary = Scanner(head, static_cast<std::size_t>(file_bytes)).scan();
  if (!summary) return summary.error();
  return {};
}

std::string_view looks_like(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.substr(0, 2) == "\x1f\x8b"sv) return "a gzip file; unpack it first";
  if (bytes.substr(0, 4) == "PK\x03\x04"sv) return "a zip archive (a PyTorch file or a packed folder?)";
  if (bytes.substr(0, 4) == "\x28\xb5\x2f\xfd"sv) return "a zstd file; unpack it first";
  if (bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3"sv) return "a TensorFlow Lite model";
  if (bytes.size() >= 8 && bytes.substr(4, 4) == "ORTM"sv) return "a model in ONNX Runtime's own format";
  if (bytes.substr(0, 8) == "\x89HDF\r\n\x1a\n"sv) return "an HDF5 file (a Keras model?)";
  if (bytes.substr(0, 1) == "{"sv || bytes.substr(0, 1) == "["sv) return "JSON text; save the model in binary form";
  const std::string_view head = bytes.substr(0, 64);
  const bool is_text = !head.empty() && std::all_of(head.begin(), head.end(), [](char c) {
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
  if (is_text) return "text; save the model in binary form";
  return "";
}

}  // namespace lowtide::import_internal
