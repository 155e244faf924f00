#define _GNU_SOURCE

#include "CSteadSecrets.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int stead_pipe(int ends[2]) {
#ifdef __linux__
  return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
#else
  if (pipe(ends) != 0) return errno;
  for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
  return 0;
#endif
}
