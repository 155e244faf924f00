import SteadFiles
import SteadSQLite

extension StoreInspection {
  /// Compares the files of large values with the rows that refer to them, and reads each.
  mutating func checkFiles(_ catalog: StoreCatalog) throws {
    guard let blobs = store.blobs else { return }
    let references = ExternalReferences(store, catalog)
    let used = try references.read(connection)
    let present = try blobs.references()
    let missing = used.keys.filter { !present.contains($0) }
    var unused = present.subtracting(try references.readAll(connection))
    var lost: Set<String> = []
    if !missing.isEmpty || !unused.isEmpty {
      // Others may have written or removed some since. While nothing writes, a missing or unused file is a finding.
      let (now, all, files) = try store.settled {
        (try references.read($0), try references.readAll($0), try blobs.references())
      }
      lost = Set(missing).intersection(now.keys).subtracting(files)
      unused = unused.intersection(files).subtracting(all)
    }
    var damaged: Set<String> = []
    let readable = present.intersection(used.keys)
    for (place, reference) in readable.sorted().enumerated() {
      try progress.send(.checkingFiles, place, of: readable.count)
      do {
        _ = try blobs.read(reference)
      } catch let error as FileError where error.code == .notFound {
        // Its last row was deleted in the meantime.
      } catch is FileError {
        damaged.insert(reference)
      }
    }
    try progress.send(.checkingFiles, readable.count, of: readable.count)
    note(.missingFile, lost, used, "A file of a large value does not exist for")
    note(
      .damagedFile, damaged, used,
      "A file of a large value cannot be read, or differs from what was written, for")
    // A copy of the past leads to the files of its store, which has rows for the others.
    let isBorrowed =
      try !store.configuration.allowsSave
      && POSIXDisk().status(at: blobs.directory.checkedPath)?.kind == .link
    unused = try unused.filter(blobs.isRemovable)
    if !unused.isEmpty, !isBorrowed { noteUnused(unused.count) }
  }

  private mutating func noteUnused(_ count: Int) {
    var rows = FoundRows()
    rows.count(count)
    note(
      .unusedFile, nil, rows: rows,
      "No row refers to \(count == 1 ? "a file" : "\(count) files") of large values. They only take up space; "
        + "`compact()` removes them.")
  }

  private mutating func note(
    _ kind: StoreCheck.Problem.Kind, _ references: Set<String>,
    _ users: [String: [ExternalReferences.User]], _ words: String
  ) {
    var found: [Int: FoundRows] = [:]
    for user in references.flatMap({ users[$0] ?? [] }).sorted(by: { $0.row < $1.row }) {
      found[user.entity, default: FoundRows()].add(user.row)
    }
    for (index, rows) in found.sorted(by: { $0.key < $1.key }) {
      let entity = layout.entities[index]
      note(
        kind, entity, rows: rows,
        "\(words) \(rows) of \(entity.name). Restore the store's directory from a backup, or set the values again."
      )
    }
  }
}
