#include <nettle/aes.h>
#include <nettle/bignum.h>
#include <nettle/chacha-poly1305.h>
#include <nettle/cmac.h>
#include <nettle/curve25519.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecc.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

// Nettle 4 has no length here: a digest is always whole.
static inline void cnettle_cmac_aes128_digest(struct cmac_aes128_ctx *context, uint8_t *digest) {
#if NETTLE_VERSION_MAJOR >= 4
  cmac_aes128_digest(context, digest);
#else
  cmac_aes128_digest(context, CMAC128_DIGEST_SIZE, digest);
#endif
}

static inline void cnettle_sha256_digest(struct sha256_ctx *context, uint8_t *digest) {
#if NETTLE_VERSION_MAJOR >= 4
  sha256_digest(context, digest);
#else
  sha256_digest(context, SHA256_DIGEST_SIZE, digest);
#endif
}

static inline void cnettle_chacha_poly1305_digest(struct chacha_poly1305_ctx *context, uint8_t *digest) {
#if NETTLE_VERSION_MAJOR >= 4
  chacha_poly1305_digest(context, digest);
#else
  chacha_poly1305_digest(context, CHACHA_POLY1305_DIGEST_SIZE, digest);
#endif
}
