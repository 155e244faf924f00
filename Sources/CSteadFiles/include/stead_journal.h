#ifndef STEAD_JOURNAL_H
#define STEAD_JOURNAL_H

#include "stead_crc32c.h"

// Documentation/JournalFile.md has the whole layout. The word where the log ends:
#define STEAD_JOURNAL_TAIL 1024
// The word of a lock that is kept between two writes:
#define STEAD_JOURNAL_KEPT_LOCK 1536

// Completes a record whose payload lies at `position` + 8 already, and returns where the log ends now.
static inline uint64_t stead_journal_publish(
  void *_Nonnull base, uint64_t position, uint32_t count, uint32_t crc
) {
  char *record = (char *)base + position;
  uint64_t size = 8 + (((uint64_t)count + 7) & ~(uint64_t)7);
  for (uint64_t pad = 8 + (uint64_t)count; pad < size; pad++) record[pad] = 0;
  // Whoever looks behind this record, even if nothing more is written, finds the end and no leftovers.
  __atomic_store_n((uint64_t *)(record + size), 0, __ATOMIC_RELAXED);
  __atomic_store_n((uint64_t *)record, (uint64_t)crc << 32 | count, __ATOMIC_RELEASE);
  __atomic_store_n(
    (uint64_t *)((char *)base + STEAD_JOURNAL_TAIL), position + size, __ATOMIC_RELEASE);
  return position + size;
}

#endif
