import Foundation
import SteadPreferences
import Testing

/// The files of a small domain: a checkpoint, and changes that came after it.
struct SampleDomain {
  /// What the domain held after the checkpoint and after each change, as the worker prints it.
  let states: [[String: String]]
  /// Where the record of each change ends in the journal.
  let ends: [Int]
  let journal: Data
  let propertyList: Data

  private static let checkpointed: [(String, PropertyList, String)] = [
    ("kept", .string("since the checkpoint"), "string since%20the%20checkpoint"),
    ("changed", .integer(1), "integer 1"),
    ("removed", .array([.bool(true), .double(0.5)]), "[bool true, double 3fe0000000000000]"),
    ("date", .date(Date(timeIntervalSinceReferenceDate: 0.5)), "date 3fe0000000000000"),
  ]
  private static let changes: [(String, PropertyList?, String?)] = [
    ("first", .integer(10), "integer 10"),
    ("changed", .integer(2), "integer 2"),
    ("second", .data(Data(repeating: 9, count: 64)), "data 64 of 651061555542690057"),
    ("removed", nil, nil),
    ("changed", .string("three"), "string three"),
    ("third", .dictionary(["a": .integer(1)]), "{a: integer 1}"),
    ("last", .bool(false), "bool false"),
  ]

  init() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let preferences = try Preferences(domain: "domain", directory: directory.url)
    var state: [String: String] = [:]
    for (key, value, line) in Self.checkpointed {
      try preferences.setPropertyList(value, forKey: key)
      state[key] = line
    }
    try #require(preferences.synchronize())
    let journalFile = directory.file("domain.journal")
    var states = [state]
    var ends: [Int] = []
    var before = try Data(contentsOf: journalFile)
    for (key, value, line) in Self.changes {
      try preferences.setPropertyList(value, forKey: key)
      state[key] = line
      states.append(state)
      let after = try Data(contentsOf: journalFile)
      // A journal is written from front to back: the last byte that is another now ends the record.
      try #require(after.count == before.count)
      let last = try #require(after.indices.last { after[$0] != before[$0] })
      ends.append((last + 8) / 8 * 8)
      before = after
    }
    self.states = states
    self.ends = ends
    journal = before
    propertyList = try Data(contentsOf: directory.file("domain.plist"))
  }

  /// How many changes are there for certain when all from a position on is damaged.
  func wholeChanges(before position: Int) -> Int { ends.count { $0 <= position } }

  static func flip(_ data: Data, at position: Int) -> Data {
    var data = data
    data[position] ^= 1 << (position % 8)
    return data
  }
}

/// What a process found in a directory whose files had been damaged.
struct Finding {
  let contents: [String: String]
  let errors: [String]

  /// Asks a worker that was started with `inspect`; nil when that ends it.
  init?(_ directory: URL, _ worker: Worker) {
    worker.send(directory.filePath)
    var (contents, errors, stops) = ([String: String](), [String](), 0)
    while stops < 2 {
      guard let line = worker.line() else { return nil }
      if line == "." {
        stops += 1
      } else if line.hasPrefix("error ") {
        errors.append(line)
      } else {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        contents[parts[0]] = parts.count == 2 ? parts[1] : ""
      }
    }
    self.contents = contents
    self.errors = errors
  }
}

/// Files put into a directory, and what a process finds in them at its first and second look.
struct DamagedDirectory {
  let directory: TemporaryDirectory
  let first: Finding
  let second: Finding

  /// nil when the worker ended, which must never happen.
  ///
  /// The worker may look at the files once more, and write them, after it has answered; so they are in
  /// `parent`, which goes after the worker.
  init?(
    journal: Data?, propertyList: Data?, _ worker: Worker, in parent: TemporaryDirectory
  ) throws {
    directory = try TemporaryDirectory(in: parent)
    try journal?.write(to: directory.file("domain.journal"))
    try propertyList?.write(to: directory.file("domain.plist"))
    // A file that was just written may be one that its editor is not done with.
    for name in try directory.names {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -60)],
        ofItemAtPath: directory.file(name).filePath)
    }
    guard let first = Finding(directory.url, worker), let second = Finding(directory.url, worker)
    else { return nil }
    (self.first, self.second) = (first, second)
  }

  /// Whether a file under another name begins with these bytes from some position on: what changes while
  /// a journal is open is at its front.
  func isQuarantined(_ bytes: Data, from position: Int = 0) throws -> Bool {
    let others = try directory.names.subtracting(["domain.journal", "domain.plist"])
    return try others.contains { name in
      let found = try Data(contentsOf: directory.file(name))
      return found.count >= bytes.count
        && found.dropFirst(position).starts(with: bytes.dropFirst(position))
    }
  }

  /// What is wrong at the second look, at which all has to be in order.
  var disorder: String? {
    var expected = first.contents
    expected["inspected"] = "integer 1"
    if !second.errors.isEmpty { return "the second look reports \(second.errors)" }
    return second.contents == expected ? nil : "the second look finds \(second.contents)"
  }
}
