import Foundation

/// What is measured: time as a clock on the wall has it, or the processor's on this process.
package enum Clock {
  /// Set in the environment of child processes.
  package static let variable = "BENCHMARK_COUNTS_PROCESSOR_TIME"
  /// Processor time leaves out what other programs do meanwhile, and waiting for the disk.
  package static let countsProcessorTime = getenv(variable) != nil

  package static var now: Double {
    nanoseconds(of: countsProcessorTime ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC)
  }

  /// The time on the wall, the same in all processes.
  package static var monotonic: Double { nanoseconds(of: CLOCK_MONOTONIC) }

  private static func nanoseconds(of clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}

/// The nanoseconds of a body. What it returns is let go of after the clock has stopped.
package func timed<Result>(_ body: () throws -> Result) rethrows -> Double {
  let start = Clock.now
  let result = try body()
  let time = Clock.now - start
  keep(result)
  return time
}

/// Makes the optimizer believe that a value is used.
@inline(never) package func keep<Value>(_ value: Value) { withExtendedLifetime(value) {} }
