#include "CSteadSecrets.h"

#include <string.h>

void stead_wipe(void *bytes, size_t count) {
  memset(bytes, 0, count);
  // The compiler has to take it that somebody reads the bytes here.
  __asm__ __volatile__("" : : "r"(bytes) : "memory");
}
