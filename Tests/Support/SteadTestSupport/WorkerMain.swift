import Foundation

/// What every worker program does around its command: it has a deadline, and says how it failed.
///
/// What fails is printed as a line that begins with `error`, and the worker exits with 2; with 1 it says what
/// it has found, if that is its task.
package enum WorkerMain {
  /// A worker that hangs ends after so many seconds all the same, and its test fails: before the test's own limit of 15
  /// minutes. Beside two thousand other tests on a busy machine a worker may wait for minutes between two lines.
  package static let timeLimit: UInt32 = 600
  package static let failureStatus: Int32 = 2
  /// EX_USAGE of sysexits.h: the worker was started with arguments that it does not know.
  private static let misuseStatus: Int32 = 64

  /// - Parameters:
  ///   - timeLimit: In seconds; nil for a worker that may take as long as it likes.
  ///   - body: The work, which gets the arguments behind the program's name.
  package static func run(
    timeLimit: UInt32? = timeLimit, _ body: (_ arguments: [String]) throws -> Void
  ) {
    if let timeLimit { alarm(timeLimit) }
    do {
      try body(Array(CommandLine.arguments.dropFirst()))
    } catch {
      fail(error)
    }
  }

  package static func fail(_ error: any Error) -> Never {
    // Without it an error that comes once in a hundred runs is a riddle.
    let cause = Mirror(reflecting: error).children.first { $0.label == "cause" }?.value
    say("error \(error)" + (cause.map { " Cause: \($0)" } ?? ""))
    exit(failureStatus)
  }

  package static func misuse() -> Never { exit(misuseStatus) }

  /// Runs asynchronous work to its end. What it throws ends the worker.
  package static func wait(for work: @escaping @Sendable () async throws -> Void) {
    let end = DispatchSemaphore(value: 0)
    Task {
      do { try await work() } catch { fail(error) }
      end.signal()
    }
    end.wait()
  }

  /// Says that the worker is ready, and waits for a line, so that several workers begin together.
  package static func waitForStart() {
    say("ready")
    _ = readLine()
  }
}

/// Prints a line with one write, so that what has been printed is whole whenever the end comes.
package func say(_ line: String) {
  var line = line + "\n"
  line.withUTF8 { bytes in
    var rest = UnsafeRawBufferPointer(bytes)
    while !rest.isEmpty {
      let count = write(STDOUT_FILENO, rest.baseAddress, rest.count)
      // Nobody reads any more: the test has ended, and so must this.
      guard count > 0 else { exit(2) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }
}
