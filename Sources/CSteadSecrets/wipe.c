#include "CSteadSecrets.h"

#include <string.h>

void stead_wipe(void *bytes, size_t count) {
  memset(bytes, 0, count);
  // The compiler has to take it that somebody reads the bytes here.
  __asm__ __volatile__("" : : "r"(bytes) : "memory");
}

_Bool stead_equal(const void *one, const void *other, size_t count) {
  const volatile unsigned char *first = one, *second = other;
  unsigned char difference = 0;
  for (size_t index = 0; index < count; index++) difference |= first[index] ^ second[index];
  return difference == 0;
}
