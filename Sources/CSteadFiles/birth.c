#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "stead_birth.h"

#if defined(__APPLE__)

// Not run on this project's machines.
#include <sys/stat.h>

uint64_t stead_file_birth(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return 0;
  return (uint64_t)status.st_birthtimespec.tv_sec * 1000000000
    + (uint64_t)status.st_birthtimespec.tv_nsec;
}

#else

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// `struct statx` of the kernel's interface, which not every C library declares. It is 256 bytes long.
struct stead_statx {
  uint32_t mask;
  uint8_t unused1[76];
  int64_t birth_seconds;
  uint32_t birth_nanoseconds;
  uint8_t unused2[164];
};

_Static_assert(sizeof(struct stead_statx) == 256, "the kernel writes 256 bytes");
_Static_assert(__builtin_offsetof(struct stead_statx, birth_seconds) == 80, "stx_btime");

uint64_t stead_file_birth(int descriptor) {
#ifdef SYS_statx
  enum { empty_path = 0x1000, birth = 0x800 };
  struct stead_statx status;
  memset(&status, 0, sizeof status);
  int number = errno;
  long result = syscall(SYS_statx, descriptor, "", empty_path, birth, &status);
  // An old kernel, or a sandbox that doesn't know the call, refuses it.
  errno = number;
  if (result != 0 || (status.mask & birth) == 0) return 0;
  return (uint64_t)status.birth_seconds * 1000000000 + status.birth_nanoseconds;
#else
  (void)descriptor;
  return 0;
#endif
}

#endif
