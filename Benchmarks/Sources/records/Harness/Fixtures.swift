import Foundation
import GRDB
import SwiftData

/// Stores in the benchmark's directory: filled once, then copied for each run that changes them.
final class Fixtures {
  static let rowCount = 100_000
  static let parentCount = 1_000
  static let childCount = 100

  let directory: URL
  let values = ItemValues.make(Fixtures.rowCount)
  private var filled: [String: String] = [:]
  private var fileCount = 0
  /// Whose stores are filled; those of others stay empty, and are not read.
  private let peers: Set<Peer>

  init(for peers: Set<Peer>, in directory: URL) {
    self.peers = peers
    self.directory = directory
  }

  /// The path of a file that is not there yet.
  func newPath() -> String {
    fileCount += 1
    return directory.appendingPathComponent("\(fileCount).store").path
  }

  /// A run's own store is in nobody's way once it has ended.
  func discard(_ path: String) {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  func copy(of path: String) throws -> String {
    let copy = newPath()
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    return copy
  }

  /// The store with 100,000 rows.
  func items(_ peer: Peer) throws -> String {
    try filled("items", peer) { path in
      switch peer {
      case .sqlite: try fillPlain(path, isIndexed: false)
      case .stead: try fillStead(path) { Item($0) }
      case .grdb: try fillRecords(path, isIndexed: false)
      }
    }
  }

  /// The store with 100,000 rows and an index on `rank`.
  func indexedItems(_ peer: Peer) throws -> String {
    try filled("indexed", peer) { path in
      switch peer {
      case .sqlite: try fillPlain(path, isIndexed: true)
      case .stead: try fillStead(path) { IndexedItem($0) }
      case .grdb: try fillRecords(path, isIndexed: true)
      }
    }
  }

  /// The store with 1,000 parents of 100 children.
  func families(_ peer: Peer) throws -> String {
    try filled("families", peer) { path in
      switch peer {
      case .sqlite: try fillPlainFamilies(path)
      case .stead: try fillSteadFamilies(path)
      case .grdb: try fillFamilyRecords(path)
      }
    }
  }

  private func filled(
    _ name: String, _ peer: Peer, _ fill: (String) throws -> Void
  ) throws -> String {
    let key = "\(name)-\(peer)"
    if let path = filled[key] { return path }
    let path = newPath()
    guard peers.contains(peer) else { return path }
    try fill(path)
    // A copy of the file alone must be whole.
    try PlainDatabase(path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    filled[key] = path
    return path
  }

  // MARK: Filling

  private func fillPlain(_ path: String, isIndexed: Bool) throws {
    let database = try PlainDatabase(path)
    try database.execute("CREATE TABLE item (\(PlainItem.declarations))")
    if isIndexed { try database.execute("CREATE INDEX item_rank ON item (rank)") }
    let insertion = try database.prepare(PlainItem.insertion)
    try database.transaction {
      for (place, values) in values.enumerated() {
        PlainItem(values, id: Int64(place + 1)).bind(to: insertion)
        try insertion.run()
      }
    }
  }

  private func fillStead<Model: PersistentModel>(
    _ path: String, _ make: (ItemValues) -> Model
  ) throws {
    let context = ModelContext(try .benchmark(path))
    for values in values { context.insert(make(values)) }
    try context.save()
  }

  private func fillRecords(_ path: String, isIndexed: Bool) throws {
    let pool = try DatabasePool.benchmark(path)
    try pool.createItems(isIndexed: isIndexed)
    try pool.write { database in
      for values in values {
        var record = ItemRecord(values)
        try record.insert(database)
      }
    }
    try pool.close()
  }

  private func families<Parent>(
    parent: (String) throws -> Parent, child: (ItemValues, Parent) throws -> Void
  ) rethrows {
    for number in 0..<Self.parentCount {
      let owner = try parent("Parent \(number)")
      for values in values[(number * Self.childCount)...].prefix(Self.childCount) {
        try child(values, owner)
      }
    }
  }

  private func fillPlainFamilies(_ path: String) throws {
    let database = try PlainDatabase(path)
    try database.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT)")
    try database.execute(
      "CREATE TABLE child (\(PlainItem.declarations), parent INTEGER REFERENCES parent)")
    try database.execute("CREATE INDEX child_parent ON child (parent)")
    let parents = try database.prepare("INSERT INTO parent (name) VALUES (?1)")
    let children = try database.prepare(
      "INSERT INTO child (id, \(PlainItem.columns), parent) "
        + "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")
    var (parentID, childID): (Int64, Int64) = (0, 0)
    try database.transaction {
      try families { name in
        parentID += 1
        parents.bind(name, 1)
        try parents.run()
        return parentID
      } child: { values, parent in
        childID += 1
        PlainItem(values, id: childID).bind(to: children)
        children.bind(parent, 12)
        try children.run()
      }
    }
  }

  private func fillSteadFamilies(_ path: String) throws {
    let context = ModelContext(try .benchmark(path))
    families { name in
      let parent = Parent(name: name)
      context.insert(parent)
      return parent
    } child: { values, parent in
      context.insert(Child(values, parent: parent))
    }
    try context.save()
  }

  private func fillFamilyRecords(_ path: String) throws {
    let pool = try DatabasePool.benchmark(path)
    try pool.createFamilies()
    try pool.write { database in
      try families { name in
        var parent = ParentRecord(name: name)
        try parent.insert(database)
        return parent.id ?? 0
      } child: { values, parent in
        try ChildRecord(values, parentId: parent).insert(database)
      }
    }
    try pool.close()
  }
}
