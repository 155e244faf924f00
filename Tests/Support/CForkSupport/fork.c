#include "CForkSupport.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t stead_test_fork(void) { return fork(); }

int stead_test_wait(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 255;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void stead_test_exit(int status) { _exit(status); }
