#ifndef CSTEAD_ENCODING_H
#define CSTEAD_ENCODING_H

#include <stddef.h>
#include <stdint.h>

// Takes whole blocks of 64 bytes into the 8 words of a SHA-256 state, with the processor's own
// instructions where it has them.
void stead_sha256_blocks(uint32_t *_Nonnull state, const void *_Nonnull blocks, size_t count);

// The same without those instructions; the tests compare the two.
void stead_sha256_blocks_portable(
  uint32_t *_Nonnull state, const void *_Nonnull blocks, size_t count);

#endif
