#ifndef STEAD_KEPT_H
#define STEAD_KEPT_H

#include <stdint.h>

// The word, in a file that processes share, of a lock that is kept between two writes. It is 0 where nobody
// keeps it. What it says never decides who has the lock; it only makes the one who has it free it sooner.
#define STEAD_LOCK_KEPT 1
// Somebody waits for it, or for one that isn't kept, in vain.
#define STEAD_LOCK_WANTED 3
// It was freed for those who wait, and the one who freed it doesn't take it again for a moment.
#define STEAD_LOCK_YIELDED 5

// Has whoever keeps the lock free it, and wakes the thread that sees to it.
void stead_kept_want(void *_Nonnull word);

// Asks whoever has the lock, kept or not, to let those have it who wait.
void stead_kept_insist(void *_Nonnull word);

// Waits until the lock is yielded, or for so many microseconds. The word may have been unmapped.
void stead_kept_await(const void *_Nonnull word, int64_t microseconds);

// For who has just freed a lock whose word isn't 0: lets another process have it that waits, or tells the one that has
// let this one have it that it is done.
void stead_kept_settle(void *_Nonnull word);

// Returns when the lock is wanted, or after so many microseconds.
void stead_kept_wait(const void *_Nonnull word, int64_t microseconds);

#endif
