#include "CSteadFiles.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#define LIMIT (1 << 20)

// A bit for each descriptor and no lock, since the handler of a fork could wait for its holder forever.
static uint64_t words[LIMIT / 64];
// One more than the last word that has ever had a bit.
static uint64_t used = 0;

static void close_in_child(void) {
  uint64_t count = __atomic_load_n(&used, __ATOMIC_SEQ_CST);
  for (uint64_t index = 0; index < count; index++) {
    uint64_t word = __atomic_exchange_n(&words[index], 0, __ATOMIC_SEQ_CST);
    for (; word != 0; word &= word - 1) close((int)(index * 64) + __builtin_ctzll(word));
  }
}

static void prepare_for_forks(void) { pthread_atfork(NULL, NULL, close_in_child); }

void stead_private_descriptor_add(int descriptor) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare_for_forks);
  if (descriptor < 0 || descriptor >= LIMIT) return;
  uint64_t index = (uint64_t)descriptor / 64;
  uint64_t count = __atomic_load_n(&used, __ATOMIC_SEQ_CST);
  while (count <= index
         && !__atomic_compare_exchange_n(&used, &count, index + 1, 0, __ATOMIC_SEQ_CST,
                                         __ATOMIC_SEQ_CST)) {
  }
  __atomic_fetch_or(&words[index], (uint64_t)1 << (descriptor % 64), __ATOMIC_SEQ_CST);
}

void stead_private_descriptor_remove(int descriptor) {
  if (descriptor < 0 || descriptor >= LIMIT) return;
  uint64_t bit = (uint64_t)1 << (descriptor % 64);
  __atomic_fetch_and(&words[descriptor / 64], ~bit, __ATOMIC_SEQ_CST);
}
