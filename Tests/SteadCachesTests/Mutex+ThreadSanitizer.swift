#if STEAD_THREAD_SANITIZER
  @testable import SteadCaches

  /// The one of the module under test, where the name would mean two.
  typealias Mutex<Value> = SteadCaches.Mutex<Value>
#endif
