import Foundation

@testable import SteadFiles

/// A list of lines in a journal, as a program would keep one; each object is like a process of its own.
final class LineLog {
  private(set) var journal: Journal
  private(set) var lines: [String] = []
  /// How often the whole list was read anew.
  private(set) var checkpointCount = 0
  private let reports: Reports
  var damages: [JournalDamage] { reports.damages }

  private final class Reports { var damages: [JournalDamage] = [] }

  init(
    _ url: URL, access: Journal.Access = .readWrite, disk: any Disk = POSIXDisk(),
    initial: [String] = [], repaired: [String] = ["repaired"],
    lockWait: Duration = Journal.lockWaitLimit
  ) throws {
    let reports = Reports()
    self.reports = reports
    journal = try Journal(
      url: url, access: access, lockWait: lockWait, disk: disk,
      initial: { Self.checkpoint(initial) },
      onDamage: { reports.damages.append($0) }, repair: { _ in Self.checkpoint(repaired) })
    try refresh()
  }

  func refresh() throws { try journal.read { take($0) } }

  func look() throws { try journal.look { take($0) } }

  private func take(_ event: Journal.Event) {
    switch event {
    case .checkpoint(let bytes, _):
      checkpointCount += 1
      lines = Self.lines(bytes)
    case .record(let bytes): lines.append(String(decoding: bytes, as: UTF8.self))
    }
  }

  func append(_ new: String...) throws {
    try journal.write(catchingUp: { take($0) }) { writer in
      for line in new {
        try writer.append(byteCount: line.utf8.count) { $0.copyBytes(from: line.utf8) }
        lines.append(line)
      }
    }
  }

  func compact(metadata: Data = Data()) throws {
    try journal.write(catchingUp: { take($0) }) { writer in
      try writer.compact(to: Self.checkpoint(lines, metadata: metadata))
    }
  }

  func compaction() -> JournalCompaction { journal.compaction(to: Self.checkpoint(lines)) }

  func finish(_ prepared: PreparedJournalCompaction) throws -> Bool {
    try journal.write(catchingUp: { take($0) }) { try $0.finish(prepared) }
  }

  private static func checkpoint(_ lines: [String], metadata: Data = Data()) -> Journal.Checkpoint {
    Journal.Checkpoint(
      bytes: Data(lines.joined(separator: "\n").utf8), metadata: metadata)
  }

  private static func lines(_ bytes: UnsafeRawBufferPointer) -> [String] {
    bytes.isEmpty
      ? [] : String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
