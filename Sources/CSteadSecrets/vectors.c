#include "CSteadSecrets.h"

#if defined(__x86_64__)

// In a function of its own, since instructions that the processor lacks must not stand on the way.
static void clear_sse(void) {
  __asm__ __volatile__(
      "pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
      "pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n"
      "pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n"
      "pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15\n" ::
          : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
            "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// Also the upper halves, which pxor leaves.
__attribute__((target("avx"))) static void clear_avx(void) {
  __asm__ __volatile__("vzeroall" ::
                           : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                             "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// The second half of the registers, which vzeroall leaves.
__attribute__((target("avx512f"))) static void clear_avx512(void) {
  __asm__ __volatile__(
      "vpxorq %%zmm16, %%zmm16, %%zmm16\n vpxorq %%zmm17, %%zmm17, %%zmm17\n"
      "vpxorq %%zmm18, %%zmm18, %%zmm18\n vpxorq %%zmm19, %%zmm19, %%zmm19\n"
      "vpxorq %%zmm20, %%zmm20, %%zmm20\n vpxorq %%zmm21, %%zmm21, %%zmm21\n"
      "vpxorq %%zmm22, %%zmm22, %%zmm22\n vpxorq %%zmm23, %%zmm23, %%zmm23\n"
      "vpxorq %%zmm24, %%zmm24, %%zmm24\n vpxorq %%zmm25, %%zmm25, %%zmm25\n"
      "vpxorq %%zmm26, %%zmm26, %%zmm26\n vpxorq %%zmm27, %%zmm27, %%zmm27\n"
      "vpxorq %%zmm28, %%zmm28, %%zmm28\n vpxorq %%zmm29, %%zmm29, %%zmm29\n"
      "vpxorq %%zmm30, %%zmm30, %%zmm30\n vpxorq %%zmm31, %%zmm31, %%zmm31\n" ::
          : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",
            "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}

void stead_clear_vectors(void) {
  if (__builtin_cpu_supports("avx512f")) clear_avx512();
  if (__builtin_cpu_supports("avx")) {
    clear_avx();
  } else {
    clear_sse();
  }
}

#elif defined(__aarch64__)

void stead_clear_vectors(void) {
  // Not v8 to v15, whose lower halves are the caller's.
  __asm__ __volatile__(
      "movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0\n"
      "movi v4.2d, #0\n movi v5.2d, #0\n movi v6.2d, #0\n movi v7.2d, #0\n"
      "movi v16.2d, #0\n movi v17.2d, #0\n movi v18.2d, #0\n movi v19.2d, #0\n"
      "movi v20.2d, #0\n movi v21.2d, #0\n movi v22.2d, #0\n movi v23.2d, #0\n"
      "movi v24.2d, #0\n movi v25.2d, #0\n movi v26.2d, #0\n movi v27.2d, #0\n"
      "movi v28.2d, #0\n movi v29.2d, #0\n movi v30.2d, #0\n movi v31.2d, #0\n" ::
          : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
            "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

#else

void stead_clear_vectors(void) {}

#endif
