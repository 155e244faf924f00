#ifndef STEAD_KEPT_H
#define STEAD_KEPT_H

#include <stdint.h>

// The word, in a file that processes share, of a lock that is kept between two writes. It is 0 where nobody
// keeps it. What it says never decides who has the lock; it only makes the one who has it free it sooner.
#define STEAD_LOCK_KEPT 1
// Somebody waits for it.
#define STEAD_LOCK_WANTED 3

// Has whoever keeps the lock free it, and wakes the thread that sees to it.
void stead_kept_want(void *_Nonnull word);

// Returns when the lock is wanted, or after so many microseconds.
void stead_kept_wait(const void *_Nonnull word, int64_t microseconds);

#endif
