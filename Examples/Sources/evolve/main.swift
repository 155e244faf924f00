import EvolveKit
import Foundation
import SwiftData

// evolve [--copies NUMBER] [DIRECTORY]: makes a store as the app's first version did, of this machine's package
// database, and opens it with the newest version. A second run finds the store that the first has left. Without a
// directory a temporary one is used, and removed.
//
// evolve record FILE: adds the versions that are new to a lock of schemas, before they are shipped.

let usage = "usage: evolve [--copies NUMBER] [DIRECTORY]\n       evolve record FILE"

func run(copies: Int, in directory: URL?) throws {
  let place =
    directory ?? FileManager.default.temporaryDirectory.appending(path: "evolve-\(UUID())")
  defer { if directory == nil { try? FileManager.default.removeItem(at: place) } }
  try Tour(store: PackageStore(url: place.appending(path: "packages.store"))).run(copies: copies)
}

var arguments = CommandLine.arguments.dropFirst()
do {
  if arguments.first == "record", arguments.count == 2 {
    try SchemaLock.record(PackagePlan.self, in: URL(filePath: arguments.removeLast()))
  } else {
    var copies = 1
    if arguments.first == "--copies", let number = arguments.dropFirst().first.flatMap({ Int($0) })
    {
      copies = number
      arguments.removeFirst(2)
    }
    guard arguments.count < 2, arguments.first?.hasPrefix("-") != true else {
      print(usage)
      exit(2)
    }
    try run(copies: copies, in: arguments.first.map { URL(filePath: $0) })
  }
} catch {
  FileHandle.standardError.write(Data("evolve: \(error)\n".utf8))
  exit(1)
}
