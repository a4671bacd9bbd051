// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "lowtide/base/check.h"
#include "lowtide/base/hex.h"

namespace lowtide::import_internal {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int length = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr);
  LOWTIDE_CHECK(ok == 1 && length == 32, "libcrypto computes SHA-256");
  std::string hex;
  for (unsigned int at = 0; at < length; ++at) append_hex(hex, digest[at]);
  return hex;
}

}  // namespace lowtide::import_internal
