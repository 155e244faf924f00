import Foundation
import Testing

@testable import SteadPreferences

/// The entries in memory, against a plain array, through changes that are kept and changes that are not.
struct HistoryTableTests {
  private struct Model: Equatable {
    /// The oldest first: number, identity, nil for what does not decode, and bytes.
    var entries: [[Int?]] = []

    func newest(_ id: Int) -> Int? { entries.last { $0[1] == id }?[0] }
  }

  private func entry(_ sequence: Int, id: Int?, version: Int) -> HistoryTable.Entry {
    let content: HistoryContent =
      id.map { .payload(PayloadBox($0), $0) }
      ?? .undecodable(UndecodableCause(reason: .doesNotDecode, message: ""))
    // Some are in blobs, of which several entries share one.
    let body: StoredEntry.Body =
      version % 3 == 0 ? .blob("blob \(version % 4)") : .json(Data("\(version)".utf8))
    return .init(
      sequence: UInt64(sequence), stored: StoredEntry(version: version, body: body),
      content: content)
  }

  private func check(_ table: HistoryTable, _ model: Model) throws {
    let found = table.newestFirst.reversed().map { entry -> [Int?] in
      [
        Int(entry.sequence), entry.content.payload.map { PayloadBox<Int>.payload(in: $0) },
        entry.stored.version,
      ]
    }
    try #require(found == model.entries)
    let payloads = model.entries.compactMap { $0[1] }
    try #require(table.count == payloads.count && table.total == model.entries.count)
    try #require(
      table.payloads(0..<table.count).map { PayloadBox<Int>.payload(in: $0) }
        == payloads.reversed())
    for id in 0..<6 {
      try #require(table.newest(id).map { Int($0.sequence) } == model.newest(id))
      let all = model.entries.reversed().filter { $0[1] == id }.compactMap { $0[0] }
      try #require(table.sequences(id).map(Int.init) == all)
    }
    let versions = model.entries.compactMap { $0[2] }
    let blobs = Set(versions.filter { $0 % 3 == 0 }.map { "blob \($0 % 4)" })
    try #require(table.allReferences == blobs)
    let bytes = versions.reduce(0) { $0 + ($1 % 3 == 0 ? 6 : "\($1)".utf8.count) }
    try #require(table.byteCount == bytes)
  }

  @Test(arguments: [1, 2, 3, 4, 5])
  func `follows an array and takes changes back`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var (table, model, next, rollBacks) = (HistoryTable(), Model(), 1, 0)
    for _ in 0..<600 {
      let (before, firstNew) = (model, next)
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<4:
          let id = Int.random(in: -1..<6, using: &random)
          let version = Int.random(in: 0..<40, using: &random)
          let entry = entry(next, id: id < 0 ? nil : id, version: version)
          table.append(entry)
          model.entries.append([next, id < 0 ? nil : id, version])
          next += 1
        case 4:
          guard let chosen = model.entries.randomElement(using: &random)?[0] else { break }
          table.remove(UInt64(chosen))
          model.entries.removeAll { $0[0] == chosen }
        case 5:
          guard let place = model.entries.indices.randomElement(using: &random),
            let number = model.entries[place][0]
          else { break }
          let id = Int.random(in: 0..<6, using: &random)
          table.replace(entry(number, id: id, version: 1))
          model.entries[place] = [number, id, 1]
        default:
          let limit = Int.random(in: 0..<20, using: &random)
          table.drop(to: limit)
          while model.entries.count(where: { $0[1] != nil }) > limit,
            let oldest = model.entries.firstIndex(where: { $0[1] != nil })
          {
            model.entries.remove(at: oldest)
          }
        }
      }
      try check(table, model)
      try checkChanges(table, before, model)
      if Int.random(in: 0..<3, using: &random) == 0 {
        table.rollBack()
        (model, next) = (before, firstNew)
        rollBacks += 1
      } else {
        table.commit()
      }
      try check(table, model)
      try #require(table.changes.isEmpty)
    }
    #expect(rollBacks > 100 && next > 500)
  }

  /// The changes lead from what was there to what is there, and name nothing else.
  private func checkChanges(_ table: HistoryTable, _ before: Model, _ after: Model) throws {
    let changes = table.changes
    let numbers = changes.map { Int($0.sequence) }
    try #require(Set(numbers).count == numbers.count)
    var entries = Dictionary(uniqueKeysWithValues: before.entries.map { ($0[0] ?? 0, $0[2]) })
    for change in changes {
      try #require(change.before.map(\.stored.version) == entries[Int(change.sequence)] ?? nil)
      entries[Int(change.sequence)] = change.after.map(\.stored.version)
    }
    try #require(
      entries == Dictionary(uniqueKeysWithValues: after.entries.map { ($0[0] ?? 0, $0[2]) }))
  }
}

/// The names of a history's files.
struct HistoryNameTests {
  @Test(arguments: [
    ("prompts", "d.history.prompts"), ("a.b-c_D9", "d.history.a.b-c_D9"),
    ("../x/y", "d.history.%2E%2E%2Fx%2Fy"), ("a..b", "d.history.a.%2Eb"), (".a", "d.history.%2Ea"),
    ("é %", "d.history.%C3%A9%20%25"), ("a\u{0}", "d.history.a%00"),
  ])
  func `a key is part of a file's name`(key: String, name: String) {
    #expect(HistoryName.domain("d", key: key) == name)
  }

  @Test func `what is too long is a digest`() throws {
    let domain = String(repeating: "é", count: 90)
    let names = [
      HistoryName.domain(domain, key: "a"), HistoryName.domain(domain, key: "b"),
      HistoryName.domain(domain + "x", key: "a"),
      HistoryName.domain("d", key: String(repeating: "k", count: 200)),
      HistoryName.domain("d", key: String(repeating: "k", count: 201)),
    ]
    #expect(Set(names).count == names.count)
    for name in names { try DomainName.check(name) }
    let home = try HistoryHome()
    let key = String(repeating: "/", count: 300)
    try PayloadHistory<Prompt>(key, in: home.preferences).prepend(1)
    let names2 = try home.directory.names.filter { $0.hasPrefix("domain.history.") }
    #expect(names2.contains { $0.hasSuffix(".journal") })
    #expect(names2.allSatisfy { $0.utf8.count <= 200 })
  }
}
