import Foundation
import Testing

/// A running StoreWorker: another process on the same store, which prints numbers.
typealias Worker = WorkerProcess

extension WorkerProcess {
  convenience init(_ store: URL, _ arguments: String...) throws {
    try self.init([Self.program("StoreWorker"), store.filePath] + arguments)
  }

  /// The next number that the worker prints; nil once it has ended.
  func number() -> Int? { line().flatMap(Self.number) }

  /// All numbers until the end.
  func numbers() -> [Int] { rest().compactMap(Self.number) }

  private static func number(_ line: String) -> Int? {
    let number = Int(line)
    if number == nil { Issue.record("The worker says: \(line)") }
    return number
  }
}
