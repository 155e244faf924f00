import Foundation
import SteadTestSupport

/// A running StoreWorker: another process on the same store, which prints numbers.
final class Worker {
  private let process: WorkerProcess

  init(_ store: URL, _ arguments: String...) throws {
    process = try WorkerProcess([WorkerProcess.program("StoreWorker"), store.path] + arguments)
  }

  /// The next number that the worker prints; nil once it has ended.
  func next() -> Int? { process.line().flatMap { Int($0) } }

  /// All numbers until the end.
  func rest() -> [Int] { process.rest().compactMap { Int($0) } }

  func send(_ line: String) throws {
    guard process.tell(line) else { throw POSIXError(.EPIPE) }
  }

  /// Ends the worker's input, and waits for the worker's end: its exit status.
  func finish() throws -> Int32 {
    process.endInput()
    return process.finish()
  }

  func killNow() { process.end() }
}

/// A directory for stores that tests open themselves; it lasts as long as the tests do.
final class StoreDirectory {
  let url: URL

  init() throws { url = try TestFiles.directory() }

  func file(_ name: String) -> URL { url.file(name) }
}
