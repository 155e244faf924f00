#include "stead_short_lock.h"

#ifndef __APPLE__
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

// How often a thread looks whether the lock is free before it sleeps: less than it takes to fall asleep.
enum { look_limit = 40 };

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

void stead_short_lock_wait(stead_short_lock *lock) {
  for (int look = 0; look < look_limit; look++) {
    uint32_t found = __atomic_load_n(&lock->word, __ATOMIC_RELAXED);
    if (found == 0
        && __atomic_compare_exchange_n(
          &lock->word, &found, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      return;
    }
    pause_briefly();
  }
  // Taken as 2 from here on, since others may sleep, too: their wake-up must not be lost.
  while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE) != 0) {
#ifdef __linux__
    syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
#else
    sched_yield();
#endif
  }
}

void stead_short_lock_wake(stead_short_lock *lock) {
#ifdef __linux__
  syscall(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#else
  (void)lock;
#endif
}
#endif
