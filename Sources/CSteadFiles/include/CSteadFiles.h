#ifndef CSTEAD_FILES_H
#define CSTEAD_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "CSteadFilesPrivate.h"
#include "CSteadFilesRights.h"
#include "stead_birth.h"
#include "stead_crc32c.h"
#include "stead_journal.h"
#include "stead_kept.h"
#include "stead_mapping.h"
#include "stead_short_lock.h"

// Words of memory that several processes share: Swift's own atomics cannot be laid over a mapping.

static inline uint64_t stead_load_acquire(const void *_Nonnull word) {
  return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
}

static inline void stead_store_release(void *_Nonnull word, uint64_t value) {
  __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELEASE);
}

static inline uint64_t stead_exchange(void *_Nonnull word, uint64_t value) {
  return __atomic_exchange_n((uint64_t *)word, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t stead_fetch_add(void *_Nonnull word, uint64_t value) {
  return __atomic_fetch_add((uint64_t *)word, value, __ATOMIC_SEQ_CST);
}

// Makes a word at least as large as a value.
static inline void stead_raise(void *_Nonnull word, uint64_t value) {
  uint64_t found = __atomic_load_n((uint64_t *)word, __ATOMIC_SEQ_CST);
  while (found < value
    && !__atomic_compare_exchange_n(
      (uint64_t *)word, &found, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
}

// How often this process is the child of a fork of the program's: files that hold locks have to be
// opened again when it has changed, since a lock belongs to the open file that parent and child share.
extern uint64_t stead_fork_generation_word;

static inline uint64_t stead_fork_generation(void) {
  return __atomic_load_n(&stead_fork_generation_word, __ATOMIC_RELAXED);
}

// Begins to count forks, if that has not begun.
void stead_fork_watch(void);

// A mutex that no thread holds in the child of a fork. Locks of this kind are not nested.
typedef struct stead_lock stead_lock;
stead_lock *_Nonnull stead_lock_create(void);
void stead_lock_destroy(stead_lock *_Nonnull lock);
void stead_lock_acquire(stead_lock *_Nonnull lock);
void stead_lock_release(stead_lock *_Nonnull lock);

#endif
