// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/import.h"

#include <new>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/csv.h"
#include "lowtide/import/file.h"
#include "lowtide/import/order_json.h"
#include "lowtide/import/sha256.h"
#ifdef LOWTIDE_WITH_ONNX
#include "lowtide/import/onnx/graph_import.h"
#include "lowtide/import/onnx/load/load.h"
#endif

namespace lowtide {
namespace {

Error in_file(const std::string& path, const Error& error) {
  const std::string shown = shown_path(path);
  if (error.place.starts_with(':')) return Error{error.code, error.message, shown + error.place};  // line and column
  return Error{error.code, error.message, error.place.empty() ? shown : shown + ": " + error.place};
}

Result<ImportedModel> import_bytes(import_internal::FileBytes bytes, const ImportOptions& options) {
#ifdef LOWTIDE_WITH_ONNX
  std::string digest = import_internal::sha256_hex(bytes.view());
  Result<ImportedModel> model = import_internal::import_onnx(std::move(bytes), options);
  if (model) model->sha256 = std::move(digest);
  return model;
#else
  static_cast<void>(bytes);
  static_cast<void>(options);
  return Error{ErrorCode::unsupported,
               "this build of Lowtide cannot read ONNX models; build it with lowtide_WITH_ONNX=ON", ""};
#endif
}

// Checks the beginning first, because reading and hashing a large file of another kind may take long.
Result<import_internal::FileBytes> read_model(const std::string& path) {
#ifdef LOWTIDE_WITH_ONNX
  constexpr import_internal::CheckHead kCheckHead = import_internal::check_head_of_model;
#else
  constexpr import_internal::CheckHead kCheckHead = nullptr;
#endif
  return import_internal::read_file(path, limits::kMaxFileBytes, "kMaxFileBytes", kCheckHead);
}

template <typename Problem>
Result<Problem> import_problem(const std::string& path, Result<Problem> (*parse)(std::string_view text)) {
  const Result<import_internal::FileBytes> bytes =
      import_internal::read_file(path, limits::kMaxFileBytes, "kMaxFileBytes");
  if (!bytes) return bytes.error();
  try {
    Result<Problem> problem = parse(bytes->view());
    if (!problem) return in_file(path, problem.error());
    return problem;
  } catch (const std::bad_alloc&) {
    return in_file(path, {ErrorCode::over_limit, "there is not enough memory for the problem", ""});
  }
}

}  // namespace

Result<ImportedModel> import_model(const std::string& path, const ImportOptions& options) {
  Result<import_internal::FileBytes> bytes = read_model(path);
  if (!bytes) return bytes.error();
  try {
    Result<ImportedModel> model = import_bytes(*std::move(bytes), options);
    if (!model) return in_file(path, model.error());
    return model;
  } catch (const std::bad_alloc&) {
    return in_file(path, {ErrorCode::over_limit, "there is not enough memory for the model", ""});
  }
}

Result<std::string> model_digest(const std::string& path) {
  const Result<import_internal::FileBytes> bytes =
      import_internal::read_file(path, limits::kMaxFileBytes, "kMaxFileBytes");
  if (!bytes) return bytes.error();
  return import_internal::sha256_hex(bytes->view());
}

Result<PackingProblem> import_packing(const std::string& path) {
  return import_problem<PackingProblem>(path, parse_packing);
}

Result<ImportedOrderGraph> import_order_graph(const std::string& path) {
  return import_problem<ImportedOrderGraph>(path, parse_order_graph);
}

}  // namespace lowtide
