#include "stead_crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define WITH_INSTRUCTION __attribute__((target("sse4.2")))
#define STEP8(state, word) ((uint32_t)_mm_crc32_u64((state), (word)))
#define STEP4(state, word) _mm_crc32_u32((state), (word))
#define STEP1(state, byte) _mm_crc32_u8((state), (byte))
static int detect(void) { return __builtin_cpu_supports("sse4.2") != 0; }
#elif defined(__aarch64__)
#include <arm_acle.h>
#define WITH_INSTRUCTION __attribute__((target("crc")))
#define STEP8(state, word) __builtin_arm_crc32cd((state), (word))
#define STEP4(state, word) __builtin_arm_crc32cw((state), (word))
#define STEP1(state, byte) __builtin_arm_crc32cb((state), (byte))
#if defined(__APPLE__)
static int detect(void) { return 1; }
#else
#include <sys/auxv.h>
// HWCAP_CRC32, which not every libc's headers name.
static int detect(void) { return (getauxval(AT_HWCAP) & (1 << 7)) != 0; }
#endif
#endif

// The polynomial's bits in the order in which the bytes' bits are taken, lowest first.
#define POLYNOMIAL 0x82F63B78u

// MARK: By table

// tables[n][b]: what a byte b does to the state when n zero bytes follow it.
static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t state = byte;
    for (int bit = 0; bit < 8; bit++) state = state >> 1 ^ (state & 1 ? POLYNOMIAL : 0);
    tables[0][byte] = state;
  }
  for (int n = 1; n < 8; n++)
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = tables[n - 1][byte];
      tables[n][byte] = before >> 8 ^ tables[0][before & 0xFF];
    }
}

uint32_t stead_crc32c_by_table(uint32_t crc, const void *bytes, size_t count) {
  pthread_once(&tables_once, fill_tables);
  const unsigned char *next = bytes;
  uint32_t state = ~crc;
  for (; count >= 8; next += 8, count -= 8) {
    uint32_t low = (state ^ next[0]) & 0xFF, second = (state >> 8 ^ next[1]) & 0xFF;
    uint32_t third = (state >> 16 ^ next[2]) & 0xFF, high = (state >> 24 ^ next[3]) & 0xFF;
    state = tables[7][low] ^ tables[6][second] ^ tables[5][third] ^ tables[4][high]
      ^ tables[3][next[4]] ^ tables[2][next[5]] ^ tables[1][next[6]] ^ tables[0][next[7]];
  }
  for (; count > 0; next++, count--) state = state >> 8 ^ tables[0][(state ^ *next) & 0xFF];
  return ~state;
}

// MARK: By instruction

#if defined(WITH_INSTRUCTION)

// The instruction takes three cycles and a new one may begin in each, so long inputs are taken in three
// lanes side by side, and joined: `skip` moves a state over a lane's length of zeros.
#define LANE ((size_t)1024)
static uint32_t skip_tables[4][256];
static pthread_once_t skip_once = PTHREAD_ONCE_INIT;

WITH_INSTRUCTION static void fill_skip_tables(void) {
  uint32_t after[32];
  for (int bit = 0; bit < 32; bit++) {
    uint32_t state = (uint32_t)1 << bit;
    for (size_t n = 0; n < LANE; n += 8) state = STEP8(state, 0);
    after[bit] = state;
  }
  for (int place = 0; place < 4; place++)
    for (int byte = 0; byte < 256; byte++) {
      uint32_t state = 0;
      for (int bit = 0; bit < 8; bit++)
        if (byte >> bit & 1) state ^= after[place * 8 + bit];
      skip_tables[place][byte] = state;
    }
}

static inline uint32_t skip(uint32_t state) {
  return skip_tables[0][state & 0xFF] ^ skip_tables[1][state >> 8 & 0xFF]
    ^ skip_tables[2][state >> 16 & 0xFF] ^ skip_tables[3][state >> 24];
}

static inline uint64_t word_at(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, 8);
  return word;
}

WITH_INSTRUCTION static const unsigned char *take_lanes(
  uint32_t *state, const unsigned char *next, size_t *count
) {
  pthread_once(&skip_once, fill_skip_tables);
  uint32_t first = *state;
  for (; *count >= 3 * LANE; next += 3 * LANE, *count -= 3 * LANE) {
    uint32_t second = 0, third = 0;
    for (size_t n = 0; n < LANE; n += 8) {
      first = STEP8(first, word_at(next + n));
      second = STEP8(second, word_at(next + LANE + n));
      third = STEP8(third, word_at(next + 2 * LANE + n));
    }
    first = skip(skip(first) ^ second) ^ third;
  }
  *state = first;
  return next;
}

WITH_INSTRUCTION static inline uint32_t advance(
  uint32_t state, const unsigned char *next, size_t count
) {
  if (count >= 3 * LANE) next = take_lanes(&state, next, &count);
  for (; count >= 8; next += 8, count -= 8) state = STEP8(state, word_at(next));
  for (; count > 0; next++, count--) state = STEP1(state, *next);
  return state;
}

WITH_INSTRUCTION uint32_t stead_crc32c_by_instruction(
  uint32_t crc, const void *bytes, size_t count
) {
  return ~advance(~crc, bytes, count);
}

WITH_INSTRUCTION static uint32_t record_by_instruction(
  uint32_t crc, const void *payload, uint32_t count
) {
  return ~advance(STEP4(~crc, count), payload, count);
}

int stead_crc32c_has_instruction(void) {
  // 0 is not known yet, 1 no, 2 yes. Threads that look at once find the same.
  static int known = 0;
  int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!found) {
    found = 1 + detect();
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return found == 2;
}

#else

int stead_crc32c_has_instruction(void) { return 0; }

uint32_t stead_crc32c_by_instruction(uint32_t crc, const void *bytes, size_t count) {
  return stead_crc32c_by_table(crc, bytes, count);
}

static uint32_t record_by_instruction(uint32_t crc, const void *payload, uint32_t count) {
  return stead_crc32c_by_table(stead_crc32c_by_table(crc, &count, 4), payload, count);
}

#endif

// MARK: Either way

uint32_t stead_crc32c(uint32_t crc, const void *bytes, size_t count) {
  if (stead_crc32c_has_instruction()) return stead_crc32c_by_instruction(crc, bytes, count);
  return stead_crc32c_by_table(crc, bytes, count);
}

uint32_t stead_crc32c_record(uint32_t crc, const void *payload, uint32_t count) {
  if (stead_crc32c_has_instruction()) return record_by_instruction(crc, payload, count);
  return stead_crc32c_by_table(stead_crc32c_by_table(crc, &count, 4), payload, count);
}
