// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <openssl/crypto.h>

#include "lowtide/import/import.h"

namespace lowtide {

// An error has no effect but that on the time: the first digest then prepares the library itself.
void skip_digest_configuration() {
  static_cast<void>(OPENSSL_init_crypto(
      OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS, nullptr));
}

}  // namespace lowtide
