#if STEAD_THREAD_SANITIZER
  let isThreadSanitized = true
#else
  let isThreadSanitized = false
#endif
