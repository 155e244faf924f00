#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "stead_mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int result_of(int result) { return result == 0 ? 0 : errno; }

static int lock(int descriptor, int operation) {
  int error;
  do error = result_of(flock(descriptor, operation));
  while (error == EINTR);
  return error;
}

int stead_file_lock(int descriptor) { return lock(descriptor, LOCK_EX); }
int stead_file_try_lock(int descriptor) { return lock(descriptor, LOCK_EX | LOCK_NB); }
int stead_file_unlock(int descriptor) { return lock(descriptor, LOCK_UN); }

int stead_file_write(int descriptor, const void *bytes, size_t count, int64_t offset) {
  for (const char *next = bytes; count > 0;) {
    ssize_t written = pwrite(descriptor, next, count, offset);
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) next += written, count -= (size_t)written, offset += written;
  }
  return 0;
}

static int write_zeros(int descriptor, int64_t size, int64_t new_size) {
  static const char zeros[16384];
  int error = 0;
  for (; size < new_size && !error; size += sizeof zeros) {
    int64_t rest = new_size - size;
    size_t count = rest < (int64_t)sizeof zeros ? (size_t)rest : sizeof zeros;
    error = stead_file_write(descriptor, zeros, count, size);
  }
  return error;
}

static int extend(int descriptor, int64_t size, int64_t new_size) {
#if defined(__linux__)
  int error;
  do error = result_of(fallocate(descriptor, 0, size, new_size - size));
  while (error == EINTR);
  if (error != EOPNOTSUPP && error != ENOSYS) return error;
#endif
  return write_zeros(descriptor, size, new_size);
}

int stead_file_extend(int descriptor, int64_t size, int64_t new_size) {
  int error = extend(descriptor, size, new_size);
  // Some file systems keep the part for which there was room, on a disk that is full already.
  if (error) (void)!ftruncate(descriptor, size);
  return error;
}

int stead_file_sync(int descriptor) {
#if defined(__APPLE__)
  if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
  return result_of(fsync(descriptor));
#else
  int error;
  do error = result_of(fdatasync(descriptor));
  while (error == EINTR);
  return error;
#endif
}

int stead_file_touch(int descriptor) { return result_of(futimens(descriptor, NULL)); }

// MARK: Mappings

typedef struct mapping {
  void *base;
  size_t size;
  int descriptor;
  struct mapping *next;
} mapping;

static pthread_mutex_t mappings_mutex = PTHREAD_MUTEX_INITIALIZER;
static mapping *first_mapping = NULL;

void stead_mappings_before_fork(void) { pthread_mutex_lock(&mappings_mutex); }
void stead_mappings_after_fork(void) { pthread_mutex_unlock(&mappings_mutex); }

void stead_mappings_in_child(void) {
  for (mapping *one = first_mapping; one;) {
    int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;
    (void)mmap(one->base, one->size, PROT_READ | PROT_WRITE, flags, -1, 0);
    close(one->descriptor);
    mapping *next = one->next;
    free(one);
    one = next;
  }
  first_mapping = NULL;
  pthread_mutex_unlock(&mappings_mutex);
}

static mapping **find_mapping(void *base) {
  mapping **place = &first_mapping;
  while (*place && (*place)->base != base) place = &(*place)->next;
  return place;
}

static void *map(int descriptor, size_t size, int writable) {
  int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void *base = mmap(NULL, size, protection, MAP_SHARED, descriptor, 0);
  return base == MAP_FAILED ? NULL : base;
}

void *stead_map(int descriptor, size_t size, int writable) {
  mapping *one = malloc(sizeof *one);
  if (!one) return NULL;
  pthread_mutex_lock(&mappings_mutex);
  void *base = map(descriptor, size, writable);
  if (base) {
    *one = (mapping){base, size, descriptor, first_mapping};
    first_mapping = one;
  } else {
    free(one);
  }
  pthread_mutex_unlock(&mappings_mutex);
  return base;
}

void *stead_remap(void *base, size_t size, size_t new_size, int descriptor, int writable) {
  pthread_mutex_lock(&mappings_mutex);
#if defined(__linux__)
  (void)descriptor, (void)writable;
  void *moved = mremap(base, size, new_size, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) moved = NULL;
#else
  void *moved = map(descriptor, new_size, writable);
  if (moved) munmap(base, size);
#endif
  mapping *one = moved ? *find_mapping(base) : NULL;
  if (one) one->base = moved, one->size = new_size;
  pthread_mutex_unlock(&mappings_mutex);
  return moved;
}

void stead_unmap(void *base, size_t size) {
  pthread_mutex_lock(&mappings_mutex);
  mapping **place = find_mapping(base), *one = *place;
  if (one) {
    *place = one->next;
    free(one);
  }
  munmap(base, size);
  pthread_mutex_unlock(&mappings_mutex);
}

void stead_populate(void *start, size_t count) {
#if defined(__linux__)
  // MADV_POPULATE_WRITE, since Linux 5.14; older ones refuse it, and older headers lack its name.
  size_t page = 4096, before = (uintptr_t)start % page;
  (void)madvise((char *)start - before, count + before, 23);
#else
  (void)start, (void)count;
#endif
}

uint64_t stead_clock(void) {
  struct timespec now;
#if defined(__linux__)
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
  clock_gettime(CLOCK_MONOTONIC, &now);
#endif
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
