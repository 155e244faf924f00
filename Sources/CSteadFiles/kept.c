#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "stead_kept.h"

#include <errno.h>
#include <limits.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <time.h>
#include <unistd.h>

void stead_kept_want(void *word) {
  uint64_t kept = STEAD_LOCK_KEPT;
  if (__atomic_load_n((uint64_t *)word, __ATOMIC_RELAXED) != kept) return;
  if (!__atomic_compare_exchange_n(
        (uint64_t *)word, &kept, STEAD_LOCK_WANTED, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    return;
  }
#if defined(SYS_futex)
  // 1 is FUTEX_WAKE: of the waiters that share the file, as a private one would not be found here.
  int saved = errno;
  (void)syscall(SYS_futex, word, 1, INT_MAX, NULL, NULL, 0);
  errno = saved;
#endif
}

void stead_kept_wait(const void *word, int64_t microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
#if defined(SYS_futex)
  // 0 is FUTEX_WAIT. It compares the word's first half, which has all that the word says. Where the mapping
  // is gone by now it fails, and the caller looks again.
  if (syscall(SYS_futex, word, 0, STEAD_LOCK_KEPT, &time, NULL, 0) == 0) return;
  if (errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR) return;
#else
  (void)word;
#endif
  nanosleep(&time, NULL);
}
