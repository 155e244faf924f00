#if STEAD_THREAD_SANITIZER
  import SteadFiles

  typealias Mutex<Value> = SanitizedMutex<Value>
#endif
