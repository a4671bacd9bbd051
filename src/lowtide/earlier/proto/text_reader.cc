// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/earlier/proto/parsed_size.h"
#include "lowtide/earlier/proto/proto.h"
#include "lowtide/earlier/proto/text_scanner.h"

namespace lowtide {
namespace proto_internal {
namespace {

std::string place_of(const ProtoToken& token) {
  return ":" + std::to_string(token.line) + ":" + std::to_string(token.column);
}

// A whole number: decimal, 0x hexadecimal, or with a leading 0 octal.
std::optional<std::uint64_t> whole_number(std::string_view source) {
  int base = 10;
  if (source.starts_with("0x") || source.starts_with("0X")) {
    base = 16;
    source.remove_prefix(2);
  } else if (source.size() > 1 && source.front() == '0') {
    base = 8;
  }
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(source.data(), source.data() + source.size(), value, base);
  if (source.empty() || code != std::errc() || end != source.data() + source.size()) return std::nullopt;
  return value;
}

template <typename Real>
std::optional<Real> real_number(std::string_view source) {
  if (source == "inf" || source == "infinity") return std::numeric_limits<Real>::infinity();
  if (source == "nan") return std::numeric_limits<Real>::quiet_NaN();
  if (source.ends_with('f') || source.ends_with('F')) source.remove_suffix(1);
  Real value = 0;
  const auto [end, code] = std::from_chars(source.data(), source.data() + source.size(), value);
  if (source.empty() || code != std::errc() || end != source.data() + source.size()) return std::nullopt;
  return value;
}

// The bits of a whole number within the range of its type.
std::optional<std::uint64_t> bits_of_whole(ProtoType type, bool is_negative, std::uint64_t size) {
  const bool is_wide = type == ProtoType::int64;
  if (type == ProtoType::uint32) {
    const bool is_inside = (!is_negative || size == 0) && size <= 0xFFFFFFFF;
    return is_inside ? std::optional(size) : std::nullopt;
  }
  if (type == ProtoType::uint64 || type == ProtoType::fixed64) {
    return !is_negative || size == 0 ? std::optional(size) : std::nullopt;
  }
  const std::uint64_t most = (is_wide ? std::uint64_t{1} << 63U : std::uint64_t{1} << 31U) - (is_negative ? 0 : 1);
  if (size > most) return std::nullopt;
  return is_negative ? ~size + 1 : size;
}

class TextReader {
 public:
  explicit TextReader(std::string_view text) : scanner_(text), size_(text.size()) {}

  Result<ProtoMessage> read(const ProtoSchema& schema) && {
    ProtoMessage message;
    if (!read_message(schema, "", 0, message)) return *std::move(error_);
    return message;
  }

 private:
  bool fail(const ProtoToken& token, std::string message, ErrorCode code = ErrorCode::malformed) {
    error_ = Error{code, std::move(message), place_of(token)};
    return false;
  }
  bool fail_expected(const std::string& what) {
    const ProtoToken& token = scanner_.peek();
    const bool is_end = token.kind == ProtoTokenKind::end;
    return fail(token, "expected " + what + ", found " + (is_end ? "the end of the text" : quoted(token.source, 60)));
  }
  bool accept(std::string_view symbol) {
    if (!scanner_.peek().is(symbol)) return false;
    scanner_.take();
    return true;
  }
  bool read_message(const ProtoSchema& schema, std::string_view end, int depth, ProtoMessage& to);
  bool read_field(const ProtoSchema& schema, int depth, ProtoMessage& to);
  bool read_value(const ProtoFieldSchema& field, int depth, ProtoMessage& to);
  bool read_text(const ProtoFieldSchema& field, ProtoMessage& to);
  bool read_number(const ProtoFieldSchema& field, ProtoMessage& to);
  bool check_single(const ProtoFieldSchema& field, const ProtoToken& name, const ProtoMessage& to);

  ProtoScanner scanner_;
  ParsedSize size_;
  std::optional<Error> error_;
};

bool TextReader::read_message(const ProtoSchema& schema, std::string_view end, int depth, ProtoMessage& to) {
  if (depth > kMaxProtoDepth) {
    return fail(scanner_.peek(),
                "messages are nested more than " + std::to_string(kMaxProtoDepth) + " deep (kMaxProtoDepth)",
                ErrorCode::over_limit);
  }
  while (true) {
    const ProtoToken& next = scanner_.peek();
    if (end.empty() ? next.kind == ProtoTokenKind::end : next.is(end)) break;
    if (next.kind != ProtoTokenKind::name) {
      return fail_expected("a field of " + std::string(schema.name) + (end.empty() ? "" : " or " + quoted(end)));
    }
    if (!read_field(schema, depth, to)) return false;
    if (size_.is_over()) {
      error_ = size_.error(place_of(scanner_.peek()));
      return false;
    }
    if (!accept(",")) accept(";");
  }
  if (!end.empty()) scanner_.take();
  to.fields.shrink_to_fit();
  return true;
}

bool TextReader::check_single(const ProtoFieldSchema& field, const ProtoToken& name, const ProtoMessage& to) {
  if (field.is_repeated) return true;
  for (const ProtoField& old : to.fields) {
    if (old.number == field.number) return fail(name, "the field " + quoted(field.name) + " has a second value");
  }
  return true;
}

bool TextReader::read_field(const ProtoSchema& schema, int depth, ProtoMessage& to) {
  const ProtoToken name = scanner_.take();
  const ProtoFieldSchema* field = find_field(schema, name.source);
  if (field == nullptr) {
    return fail(name, std::string(schema.name) + " has no field " + quoted(name.source, 60));
  }
  const bool has_colon = accept(":");
  if (!has_colon && field->type != ProtoType::message) return fail_expected("':' after " + quoted(field->name));
  if (!check_single(*field, name, to)) return false;
  if (!field->is_repeated || !accept("[")) return read_value(*field, depth, to);
  if (accept("]")) return true;
  while (true) {
    if (!read_value(*field, depth, to)) return false;
    if (accept("]")) return true;
    if (!accept(",")) return fail_expected("',' or ']'");
    if (size_.is_over()) return true;  // read_message() reports it
  }
}

bool TextReader::read_value(const ProtoFieldSchema& field, int depth, ProtoMessage& to) {
  if (field.type == ProtoType::message) {
    if (accept("{")) return read_message(*field.message, "}", depth + 1, size_.open_message(to, field));
    if (accept("<")) return read_message(*field.message, ">", depth + 1, size_.open_message(to, field));
    return fail_expected("'{' after " + quoted(field.name));
  }
  if (wire_of(field.type) == ProtoWire::bytes) return read_text(field, to);
  return read_number(field, to);
}

// Texts that follow one another are one text.
bool TextReader::read_text(const ProtoFieldSchema& field, ProtoMessage& to) {
  if (scanner_.peek().kind != ProtoTokenKind::text) return fail_expected("a text for " + quoted(field.name));
  std::string text;
  while (scanner_.peek().kind == ProtoTokenKind::text) {
    const ProtoToken token = scanner_.take();
    std::string part;
    if (!unescape_proto(token.source, part)) return fail(token, "the text has a malformed escape");
    text += part;
  }
  size_.add_text(to, field.number, std::move(text));
  return true;
}

std::optional<std::uint64_t> named_number(const ProtoFieldSchema& field, std::string_view name) {
  if (field.type == ProtoType::boolean) {
    if (name == "true" || name == "True" || name == "t") return 1;
    if (name == "false" || name == "False" || name == "f") return 0;
  }
  for (const ProtoEnumValue& value : field.values) {
    if (value.name == name) return static_cast<std::uint64_t>(std::int64_t{value.number});
  }
  return std::nullopt;
}

bool TextReader::read_number(const ProtoFieldSchema& field, ProtoMessage& to) {
  const bool is_negative = accept("-");
  const ProtoToken token = scanner_.peek();
  if (token.kind != ProtoTokenKind::number && token.kind != ProtoTokenKind::name) {
    return fail_expected("a number for " + quoted(field.name));
  }
  scanner_.take();
  std::optional<std::uint64_t> bits;
  if (field.type == ProtoType::f32) {
    const std::optional<float> real = real_number<float>(token.source);
    if (real) bits = std::bit_cast<std::uint32_t>(is_negative ? -*real : *real);
  } else if (field.type == ProtoType::f64) {
    const std::optional<double> real = real_number<double>(token.source);
    if (real) bits = std::bit_cast<std::uint64_t>(is_negative ? -*real : *real);
  } else if (const std::optional<std::uint64_t> whole = whole_number(token.source)) {
    bits = bits_of_whole(field.type, is_negative, *whole);
    if (field.type == ProtoType::boolean && (*whole > 1 || is_negative)) bits.reset();
  } else if (!is_negative) {
    bits = named_number(field, token.source);
  }
  if (!bits) {
    return fail(token, quoted((is_negative ? "-" : "") + std::string(token.source), 60) + " is no value of the field " +
                           quoted(field.name));
  }
  size_.add_number(to, field.number, wire_of(field.type), field.is_repeated, *bits);
  return true;
}

}  // namespace
}  // namespace proto_internal

Result<ProtoMessage> read_proto_text(const ProtoSchema& schema, std::string_view text) {
  return proto_internal::TextReader(text).read(schema);
}

std::optional<std::string_view> first_field_of_text(std::string_view bytes) {
  proto_internal::ProtoScanner scanner(bytes.substr(0, 64 << 10));
  const proto_internal::ProtoToken first = scanner.take();
  if (first.kind != proto_internal::ProtoTokenKind::name) return std::nullopt;
  const proto_internal::ProtoToken& next = scanner.peek();
  return next.is(":") || next.is("{") || next.is("<") ? std::optional(first.source) : std::nullopt;
}

}  // namespace lowtide
