#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "stead_mapping.h"

#include "stead_journal.h"
#include "stead_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
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

static int64_t now_in_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int stead_file_lock_within(int descriptor, int64_t microseconds, void *kept_lock) {
  int error = stead_file_try_lock(descriptor);
  // A holder is done within a microsecond, unless it is stopped or has lost the processor.
  for (int turn = 0; turn < 64 && error == EWOULDBLOCK; turn++) {
    if (kept_lock) stead_kept_want(kept_lock);
    sched_yield();
    error = stead_file_try_lock(descriptor);
  }
  if (microseconds <= 0) return error;
  int64_t end = now_in_microseconds() + microseconds;
  int has_insisted = 0;
  for (int64_t pause = 20; error == EWOULDBLOCK && now_in_microseconds() < end; pause *= 2) {
    if (pause > 1000) pause = 1000;
    struct timespec time = {0, pause * 1000};
    if (kept_lock) {
      stead_kept_insist(kept_lock);
      has_insisted = 1;
      stead_kept_await(kept_lock, pause);
    } else {
      nanosleep(&time, NULL);
    }
    error = stead_file_try_lock(descriptor);
  }
  // Otherwise this process, or the next one that writes, would leave the lock to somebody who doesn't wait.
  if (has_insisted) stead_kept_withdraw(kept_lock);
  return error;
}

static int set_record_lock(int descriptor, short type) {
  struct flock whole = {0};
  whole.l_type = type;
  whole.l_whence = SEEK_SET;
#if defined(F_OFD_SETLK)
  // Belongs to the open file: another one of this process excludes it, and closing that doesn't free it.
  int operation = F_OFD_SETLK;
#else
  int operation = F_SETLK;
#endif
  return result_of(fcntl(descriptor, operation, &whole) < 0 ? -1 : 0);
}

int stead_file_lock_record(int descriptor) { return set_record_lock(descriptor, F_WRLCK); }

int stead_file_unlock_record(int descriptor) { return set_record_lock(descriptor, F_UNLCK); }

int stead_file_unlock(int descriptor) { return lock(descriptor, LOCK_UN); }

int stead_file_reaches(int descriptor, int64_t size) {
  struct stat status;
  return fstat(descriptor, &status) != 0 || status.st_size >= size;
}

int stead_file_is_whole(int descriptor, int64_t size) {
  struct stat status;
  return fstat(descriptor, &status) != 0 || (status.st_size >= size && status.st_nlink > 0);
}

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

int stead_file_mark(int descriptor) {
  struct timespec times[2] = {{0, UTIME_OMIT}, {0, 0}};
  if (clock_gettime(CLOCK_REALTIME, &times[1]) != 0) return errno;
  return result_of(futimens(descriptor, times));
}

int stead_file_copy_date(int descriptor, int other) {
  struct stat status;
  if (fstat(other, &status) != 0) return errno;
#if defined(__APPLE__)
  struct timespec times[2] = {{0, UTIME_OMIT}, status.st_mtimespec};
#else
  struct timespec times[2] = {{0, UTIME_OMIT}, status.st_mtim};
#endif
  return result_of(futimens(descriptor, times));
}

int stead_file_is_mount(const char *path) {
#if defined(__linux__) && defined(STATX_TYPE)
  struct statx status;
  // STATX_ATTR_MOUNT_ROOT, since Linux 5.8, which older headers lack.
  return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &status) == 0
    && (status.stx_attributes & 0x2000) != 0;
#else
  (void)path;
  return 0;
#endif
}

int stead_file_exchange(const char *path, const char *other) {
#if defined(__APPLE__)
  return result_of(renamex_np(path, other, RENAME_SWAP));
#elif defined(SYS_renameat2)
  // By its number, since not every C library has a function for it. 2 is RENAME_EXCHANGE.
  int error = result_of((int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 2));
  // What kernels and file systems say that do not know it.
  return error == EINVAL || error == ENOSYS ? ENOTSUP : error;
#else
  return ENOTSUP;
#endif
}

// MARK: Mappings

// A mapping, or room for one. It is never freed, since a signal handler walks through the list, which cannot
// wait for the mutex; so it is used again.
typedef struct mapping {
  // NULL when it is not in use.
  _Atomic(void *) base;
  _Atomic(size_t) size;
  _Atomic(uint64_t) is_lost;
  // Changed by who has the lock that guards the journal, or all of them.
  uint64_t keeps_lock;
  int descriptor;
  struct mapping *next;
} mapping;

static pthread_mutex_t mappings_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(mapping *) first_mapping = NULL;
static const uint64_t never_lost = 0;

static int put_zeros(void *base, size_t size) {
  int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;
  return mmap(base, size, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED ? errno : 0;
}

// MARK: Files that others cut off

static struct sigaction previous_action;

// The way of Wayland's wl_shm_buffer_begin_access: who touches a page that the file has lost finds zeros.
static int replace_lost(void *address) {
  for (mapping *one = first_mapping; one; one = one->next) {
    char *base = one->base;
    size_t size = one->size;
    if (!base || (char *)address < base || (char *)address >= base + size) continue;
    int saved = errno;
    int error = put_zeros(base, size);
    errno = saved;
    if (error) return 0;
    one->is_lost = 1;
    return 1;
  }
  return 0;
}

static void bus_error(int number, siginfo_t *info, void *context) {
  if (replace_lost(info->si_addr)) return;
  if (previous_action.sa_flags & SA_SIGINFO) {
    previous_action.sa_sigaction(number, info, context);
  } else if (previous_action.sa_handler == SIG_DFL || previous_action.sa_handler == SIG_IGN) {
    // The same instruction runs again, and the system does what it does without this handler.
    signal(number, SIG_DFL);
  } else {
    previous_action.sa_handler(number);
  }
}

static void handle_bus_errors(void) {
  struct sigaction action = {0};
  action.sa_sigaction = bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous_action);
}

_Thread_local int stead_bus_errors_admitted = 0;

void stead_admit_bus_errors(void) {
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  stead_bus_errors_admitted = pthread_sigmask(SIG_UNBLOCK, &bus, NULL) == 0;
}

// MARK: The list

static void free_kept_lock(mapping *one) {
  if (!one->base || !one->keeps_lock) return;
  one->keeps_lock = 0;
  __atomic_store_n(
    (uint64_t *)((char *)one->base + STEAD_JOURNAL_KEPT_LOCK), 0, __ATOMIC_RELEASE);
  (void)stead_file_unlock(one->descriptor);
}

void stead_mappings_before_fork(void) {
  pthread_mutex_lock(&mappings_mutex);
  for (mapping *one = first_mapping; one; one = one->next) free_kept_lock(one);
}

void stead_mappings_after_fork(void) { pthread_mutex_unlock(&mappings_mutex); }

void stead_mappings_in_child(void) {
  for (mapping *one = first_mapping; one; one = one->next) {
    void *base = one->base;
    if (!base) continue;
    (void)put_zeros(base, one->size);
    close(one->descriptor);
    one->base = NULL;
  }
  pthread_mutex_unlock(&mappings_mutex);
}

static mapping *find_mapping(void *base) {
  mapping *one = first_mapping;
  while (one && one->base != base) one = one->next;
  return one;
}

// One that is free, and is made where there is none; NULL when there is no memory.
static mapping *free_mapping(void) {
  mapping *one = find_mapping(NULL);
  if (one) return one;
  one = calloc(1, sizeof *one);
  if (!one) return NULL;
  one->next = first_mapping;
  first_mapping = one;
  return one;
}

static void *map(int descriptor, size_t size, int writable) {
  int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void *base = mmap(NULL, size, protection, MAP_SHARED, descriptor, 0);
  return base == MAP_FAILED ? NULL : base;
}

void *stead_map(int descriptor, size_t size, int writable) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, handle_bus_errors);
  pthread_mutex_lock(&mappings_mutex);
  mapping *one = free_mapping();
  void *base = one ? map(descriptor, size, writable) : NULL;
  if (base) {
    one->is_lost = 0;
    one->keeps_lock = 0;
    one->size = size;
    one->descriptor = descriptor;
    one->base = base;
  }
  pthread_mutex_unlock(&mappings_mutex);
  return base;
}

const uint64_t *stead_map_loss(void *base) {
  pthread_mutex_lock(&mappings_mutex);
  mapping *one = find_mapping(base);
  pthread_mutex_unlock(&mappings_mutex);
  return one ? (const uint64_t *)&one->is_lost : &never_lost;
}

uint64_t *stead_map_kept_lock(void *base) {
  pthread_mutex_lock(&mappings_mutex);
  mapping *one = find_mapping(base);
  pthread_mutex_unlock(&mappings_mutex);
  return one ? &one->keeps_lock : NULL;
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
  mapping *one = moved ? find_mapping(base) : NULL;
  if (one) one->base = moved, one->size = new_size;
  pthread_mutex_unlock(&mappings_mutex);
  return moved;
}

void stead_unmap(void *base, size_t size) {
  pthread_mutex_lock(&mappings_mutex);
  mapping *one = find_mapping(base);
  if (one) one->base = NULL;
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
