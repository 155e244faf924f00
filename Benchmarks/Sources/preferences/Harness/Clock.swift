import Foundation

/// Nanoseconds of a clock that is never set.
enum Clock {
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}

/// The nanoseconds of a body. What it returns is let go of after the clock has stopped.
func timed<Result>(_ body: () throws -> Result) rethrows -> Double {
  let start = Clock.now
  let result = try body()
  let time = Clock.now - start
  keep(result)
  return time
}

/// Makes the optimizer believe that a value is used.
@inline(never) func keep<Value>(_ value: Value) { withExtendedLifetime(value) {} }
