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

// Takes back what stead_kept_insist asked for, once it has the lock or waits no longer. Others that wait ask again.
void stead_kept_withdraw(void *_Nonnull word);

// For who has just freed a lock whose word isn't 0: tells the one that has let it have the lock that it is done, or lets
// another process have the lock that waits. Returns 1 in the latter case: then stead_kept_leave has to be called before
// it takes the lock again.
int stead_kept_settle(void *_Nonnull word);

// For who has freed the lock without having written: as stead_kept_settle, but it takes the lock again at any time.
void stead_kept_pass(void *_Nonnull word);

// Waits until another process has had the lock that was left to it, or for some milliseconds. The word may have been
// unmapped.
void stead_kept_leave(const void *_Nonnull word);

// Ends the time for which the lock is left to others.
void stead_kept_retake(void *_Nonnull word);

// Returns when the lock is wanted, or after so many microseconds.
void stead_kept_wait(const void *_Nonnull word, int64_t microseconds);

#endif
