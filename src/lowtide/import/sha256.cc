// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <new>

#include "lowtide/base/check.h"
#include "lowtide/base/hex.h"

namespace lowtide::import_internal {

struct Sha256::Context {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> md{EVP_MD_CTX_new()};
};

// Nothing but a lack of memory makes it fail.
Sha256::Sha256() : context_(std::make_unique<Context>()) {
  const bool has_memory = context_->md && EVP_DigestInit_ex(context_->md.get(), EVP_sha256(), nullptr) == 1;
  if (!has_memory) throw std::bad_alloc();
}
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  LOWTIDE_CHECK(EVP_DigestUpdate(context_->md.get(), bytes.data(), bytes.size()) == 1, "libcrypto computes SHA-256");
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int length = 0;
  const int ok = EVP_DigestFinal_ex(context_->md.get(), digest.data(), &length);
  LOWTIDE_CHECK(ok == 1 && length == 32, "libcrypto computes SHA-256");
  std::string hex;
  for (unsigned int at = 0; at < length; ++at) append_hex(hex, digest[at]);
  return hex;
}

}  // namespace lowtide::import_internal
