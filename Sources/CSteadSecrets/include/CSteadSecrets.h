#ifndef CSTEAD_SECRETS_H
#define CSTEAD_SECRETS_H

#include <stddef.h>
#include <stdint.h>

#include "stead_glib.h"

// Sets bytes to zero, even where the compiler sees that nobody reads them again.
void stead_wipe(void *bytes, size_t count);

// Whether two runs of bytes are the same, in a time that depends on `count` alone.
_Bool stead_equal(const void *one, const void *other, size_t count);

// Memory for a secret: zeroed, left out of core dumps, and where the system lets us kept out of swap.
typedef struct {
  void *bytes;
  // Where it was taken from, for the call that gives it back.
  uint32_t place;
  // The process that keeps pages of its own out of swap, counted by forks; 0 for none.
  uint32_t locked_in;
} stead_memory;

// Takes memory from pages that secrets share, or pages of its own for a large one. From any thread, and
// in the child of a fork. `bytes` is NULL when the system has no memory.
stead_memory stead_memory_take(size_t count);

// Zeroes memory and gives it back; `count` is what it was taken for.
void stead_memory_give(stead_memory memory, size_t count);

// Whether this process keeps the memory out of swap. The child of a fork does not keep its parent's.
_Bool stead_memory_is_locked(stead_memory memory);

// Makes a pipe that no program started meanwhile inherits: the end to read, and the end to write. Returns 0, or
// the number of the error.
int stead_pipe(int ends[2]);

// Zeroes the vector registers that a function may change, where keys and secrets stay after the use of a cipher
// until something else needs the registers.
void stead_clear_vectors(void);

#endif
