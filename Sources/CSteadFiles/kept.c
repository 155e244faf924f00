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

// How many microseconds the lock is left to those who wait: more than a busy machine takes to run one of them.
enum { yield_limit = 5000 };

static void wake(void *word) {
#if defined(SYS_futex)
  // 1 is FUTEX_WAKE: of the waiters that share the file, as a private one would not be found here.
  int saved = errno;
  (void)syscall(SYS_futex, word, 1, INT_MAX, NULL, NULL, 0);
  errno = saved;
#else
  (void)word;
#endif
}

static void wait_while(const void *word, uint32_t value, int64_t microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
#if defined(SYS_futex)
  // 0 is FUTEX_WAIT. It compares the word's first half, which has all that the word says. Where the mapping
  // is gone by now it fails, and the caller looks again.
  if (syscall(SYS_futex, word, 0, value, &time, NULL, 0) == 0) return;
  if (errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR) return;
#else
  (void)word, (void)value;
#endif
  nanosleep(&time, NULL);
}

void stead_kept_want(void *word) {
  uint64_t kept = STEAD_LOCK_KEPT;
  if (__atomic_load_n((uint64_t *)word, __ATOMIC_RELAXED) != kept) return;
  if (!__atomic_compare_exchange_n(
        (uint64_t *)word, &kept, STEAD_LOCK_WANTED, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    return;
  }
  wake(word);
}

void stead_kept_insist(void *word) {
  uint64_t old =
    __atomic_exchange_n((uint64_t *)word, STEAD_LOCK_WANTED, __ATOMIC_SEQ_CST);
  // Also who has yielded to somebody else, and would take a later yield for its own.
  if (old == STEAD_LOCK_KEPT || old == STEAD_LOCK_YIELDED) wake(word);
}

void stead_kept_await(const void *word, int64_t microseconds) {
  wait_while(word, STEAD_LOCK_WANTED, microseconds);
}

static int exchange_and_wake(void *word, uint64_t old, uint64_t new) {
  int is_changed = __atomic_compare_exchange_n(
    (uint64_t *)word, &old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  if (is_changed) wake(word);
  return is_changed;
}

void stead_kept_withdraw(void *word) {
  // Who else waits sleeps for a yield that may never come now.
  (void)exchange_and_wake(word, STEAD_LOCK_WANTED, 0);
}

int stead_kept_settle(void *word) {
  if (exchange_and_wake(word, STEAD_LOCK_YIELDED, 0)) return 0;
  return exchange_and_wake(word, STEAD_LOCK_WANTED, STEAD_LOCK_YIELDED);
}

void stead_kept_pass(void *word) {
  uint64_t found = __atomic_load_n((uint64_t *)word, __ATOMIC_RELAXED);
  if (found == STEAD_LOCK_YIELDED) (void)exchange_and_wake(word, STEAD_LOCK_YIELDED, 0);
  if (found == STEAD_LOCK_WANTED) wake(word);
}

void stead_kept_leave(const void *word) { wait_while(word, STEAD_LOCK_YIELDED, yield_limit); }

void stead_kept_retake(void *word) {
  // Nobody has taken it: who waited may be dead, or has no processor. Another process may sleep for a yield of its own.
  (void)exchange_and_wake(word, STEAD_LOCK_YIELDED, 0);
}

void stead_kept_wait(const void *word, int64_t microseconds) {
  wait_while(word, STEAD_LOCK_KEPT, microseconds);
}
