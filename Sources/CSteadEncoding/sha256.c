#include "CSteadEncoding.h"

#include <string.h>

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
static const uint32_t constants[64] __attribute__((aligned(16))) = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t word, int count) {
  return (word >> count) | (word << (32 - count));
}

static inline uint32_t word_at(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void absorb(uint32_t state[8], const uint8_t *block) {
  uint32_t w[16];
  uint32_t v[8];
  memcpy(v, state, sizeof v);
#pragma clang loop unroll(full)
  for (int round = 0; round < 64; round++) {
    if (round < 16) {
      w[round] = word_at(block + 4 * round);
    } else {
      uint32_t early = w[(round + 1) % 16], late = w[(round + 14) % 16];
      w[round % 16] += (rotate(early, 7) ^ rotate(early, 18) ^ (early >> 3)) + w[(round + 9) % 16]
                       + (rotate(late, 17) ^ rotate(late, 19) ^ (late >> 10));
    }
    // The eight variables stand still and their names go round, so that none is copied.
    uint32_t a = v[(64 - round) % 8], b = v[(65 - round) % 8], c = v[(66 - round) % 8];
    uint32_t e = v[(68 - round) % 8], f = v[(69 - round) % 8], g = v[(70 - round) % 8];
    uint32_t *d = &v[(67 - round) % 8], *h = &v[(71 - round) % 8];
    uint32_t first = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g)))
                     + constants[round] + w[round % 16];
    *d += first;
    *h = first + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
  }
  for (int index = 0; index < 8; index++) state[index] += v[index];
}

void stead_sha256_blocks_portable(uint32_t *state, const void *blocks, size_t count) {
  const uint8_t *block = blocks;
  for (; count > 0; count--, block += 64) absorb(state, block);
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

// The instructions keep the state as two vectors, with the words in the order that their names tell
// from the highest place down.
__attribute__((target("sha,sse4.1,ssse3")))
static void absorb_all(uint32_t *state, const uint8_t *block, size_t count) {
  const __m128i swapped = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i abef = _mm_set_epi32(
    (int)state[0], (int)state[1], (int)state[4], (int)state[5]);
  __m128i cdgh = _mm_set_epi32(
    (int)state[2], (int)state[3], (int)state[6], (int)state[7]);
  for (; count > 0; count--, block += 64) {
    const __m128i old_abef = abef, old_cdgh = cdgh;
    __m128i w[4];
#pragma clang loop unroll(full)
    for (int step = 0; step < 16; step++) {
      __m128i *next = &w[step % 4];
      if (step < 4) {
        const __m128i *source = (const __m128i *)(const void *)(block + 16 * step);
        *next = _mm_shuffle_epi8(_mm_loadu_si128(source), swapped);
      } else {
        __m128i last = w[(step + 3) % 4];
        __m128i sum = _mm_add_epi32(
          _mm_sha256msg1_epu32(*next, w[(step + 1) % 4]),
          _mm_alignr_epi8(last, w[(step + 2) % 4], 4));
        *next = _mm_sha256msg2_epu32(sum, last);
      }
      const __m128i *four = (const __m128i *)(const void *)(constants + 4 * step);
      __m128i words = _mm_add_epi32(*next, _mm_load_si128(four));
      // Two rounds each; the half that was not written is the other half of the next state.
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_unpackhi_epi64(words, words));
    }
    abef = _mm_add_epi32(abef, old_abef);
    cdgh = _mm_add_epi32(cdgh, old_cdgh);
  }
  state[0] = (uint32_t)_mm_extract_epi32(abef, 3);
  state[1] = (uint32_t)_mm_extract_epi32(abef, 2);
  state[2] = (uint32_t)_mm_extract_epi32(cdgh, 3);
  state[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
  state[4] = (uint32_t)_mm_extract_epi32(abef, 1);
  state[5] = (uint32_t)_mm_extract_epi32(abef, 0);
  state[6] = (uint32_t)_mm_extract_epi32(cdgh, 1);
  state[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}

static int has_instructions(void) {
  // 0 is not asked yet. Two threads that ask at once get the same answer.
  static int answer = 0;
  int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
  if (known == 0) {
    unsigned a, b, c, d;
    int vectors = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3) && (c & bit_SSE4_1);
    int digests = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
    known = vectors && digests ? 1 : 2;
    __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
  }
  return known == 1;
}

void stead_sha256_blocks(uint32_t *state, const void *blocks, size_t count) {
  if (has_instructions()) absorb_all(state, blocks, count);
  else stead_sha256_blocks_portable(state, blocks, count);
}

#else

void stead_sha256_blocks(uint32_t *state, const void *blocks, size_t count) {
  stead_sha256_blocks_portable(state, blocks, count);
}

#endif
