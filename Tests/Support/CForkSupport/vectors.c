#include "CForkSupport.h"

#include <string.h>

// How many of the registers are looked at, and how many bytes each has.
enum { register_count = 16, register_size = 16 };

#if defined(__x86_64__)

static void load(const unsigned char *pattern) {
  __asm__ __volatile__(
      "movdqu (%0), %%xmm0\n movdqa %%xmm0, %%xmm1\n movdqa %%xmm0, %%xmm2\n movdqa %%xmm0, %%xmm3\n"
      "movdqa %%xmm0, %%xmm4\n movdqa %%xmm0, %%xmm5\n movdqa %%xmm0, %%xmm6\n movdqa %%xmm0, %%xmm7\n"
      "movdqa %%xmm0, %%xmm8\n movdqa %%xmm0, %%xmm9\n movdqa %%xmm0, %%xmm10\n movdqa %%xmm0, %%xmm11\n"
      "movdqa %%xmm0, %%xmm12\n movdqa %%xmm0, %%xmm13\n movdqa %%xmm0, %%xmm14\n movdqa %%xmm0, %%xmm15\n"
      :
      : "r"(pattern)
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15");
}

void stead_test_store_vectors(void *target) {
  __asm__ __volatile__(
      "movdqu %%xmm0, (%0)\n movdqu %%xmm1, 16(%0)\n movdqu %%xmm2, 32(%0)\n movdqu %%xmm3, 48(%0)\n"
      "movdqu %%xmm4, 64(%0)\n movdqu %%xmm5, 80(%0)\n movdqu %%xmm6, 96(%0)\n movdqu %%xmm7, 112(%0)\n"
      "movdqu %%xmm8, 128(%0)\n movdqu %%xmm9, 144(%0)\n movdqu %%xmm10, 160(%0)\n"
      "movdqu %%xmm11, 176(%0)\n movdqu %%xmm12, 192(%0)\n movdqu %%xmm13, 208(%0)\n"
      "movdqu %%xmm14, 224(%0)\n movdqu %%xmm15, 240(%0)\n"
      :
      : "r"(target)
      : "memory");
}

#else

// Where the registers are not known there is nothing to find.
static void load(const unsigned char *pattern) { (void)pattern; }

void stead_test_store_vectors(void *target) { memset(target, 0, register_count * register_size); }

#endif

int stead_test_vectors_left_by(void (*function)(void)) {
  unsigned char pattern[register_size], stored[register_count * register_size];
  memset(pattern, 0xA5, sizeof pattern);
  load(pattern);
  function();
  stead_test_store_vectors(stored);
  int count = 0;
  for (int index = 0; index < register_count; index++) {
    if (memcmp(stored + index * register_size, pattern, register_size) == 0) count++;
  }
  return count;
}
