#ifndef CSTEAD_RUNTIME_H
#define CSTEAD_RUNTIME_H

#include <stddef.h>

// Parts of Swift's stable runtime ABI (docs/Runtime.md of the Swift project).

// Retains an object unless its last strong reference is already gone, and then returns NULL.
extern void *_Nullable swift_tryRetain(void *_Nullable object);

static inline void *_Nullable stead_try_retain(void *_Nonnull object) {
  return swift_tryRetain(object);
}

// Allocates an object of a class, whose storage it does not initialize.
extern void *_Nonnull swift_allocObject(
    void *_Nonnull metadata, size_t size, size_t alignment_mask);

static inline void *_Nonnull stead_alloc_object(
    void *_Nonnull metadata, size_t size, size_t alignment_mask) {
  return swift_allocObject(metadata, size, alignment_mask);
}

// Whether an object ends for want of references, which one whose initializer fails does not.
extern _Bool swift_isDeallocating(void *_Nonnull object);
extern size_t swift_retainCount(void *_Nonnull object);

static inline int stead_is_deallocating(void *_Nonnull object) {
  return swift_isDeallocating(object);
}

// The list of objects that the thread is releasing, or NULL.
void *_Nullable stead_pending_releases(void);
void stead_set_pending_releases(void *_Nullable list);

#endif
