import ExampleSupport
import Foundation
import ShelfKit
import SwiftData

// shelf [STORE]: puts this machine's package database, or a git repository's log, into a store.

let arguments = CommandLine.arguments.dropFirst()
let url =
  arguments.first.map { URL(filePath: $0) }
  ?? URL.applicationSupportDirectory.appending(path: "shelf/shelf.store")

/// The tour starts with an empty shelf.
func removeStore() throws {
  for suffix in ["", "-wal", "-shm"] {
    let path = url.path + suffix
    if FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
  }
}

func readRecords(_ report: Report) throws -> [PackageRecord] {
  let source = PackageSource.ofThisMachine
  return try report.step("read \(source)") {
    let records = try source.records()
    return (records, "\(records.count) packages")
  }
}

do {
  try removeStore()
  let tour = Tour(url: url)
  tour.report.title("Source")
  try tour.run(try readRecords(tour.report))
  print("\nThe store is \(url.path); look into it with: sqlite3 '\(url.path)' .schema")
} catch {
  FileHandle.standardError.write(Data("shelf: \(error)\n".utf8))
  exit(1)
}
