#ifndef CSTEAD_RUNTIME_H
#define CSTEAD_RUNTIME_H

// Part of Swift's stable runtime ABI (docs/Runtime.md of the Swift project): retains an object unless
// its last strong reference is already gone, and then returns NULL.
extern void *_Nullable swift_tryRetain(void *_Nullable object);

static inline void *_Nullable stead_try_retain(void *_Nonnull object) {
  return swift_tryRetain(object);
}

#endif
