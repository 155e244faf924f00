import Foundation
import SteadFiles

/// The files of large values in two directories: a store's, and its copy's.
///
/// A file is named by its content and never changes, so a copy's is a second name of it, where the file system has
/// such, and takes no space.
struct BlobLinks {
  let source: URL
  let target: URL

  /// Adds every file to the target that the source has and the target lacks.
  func add() throws {
    let present = Set(try Self.files(in: target))
    let missing = try Self.files(in: source).filter { !present.contains($0) }
    guard !missing.isEmpty else { return }
    let files = FileManager.default
    try files.createDirectory(
      at: target, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for name in missing {
      let (from, to) = (source.appending(path: name), target.appending(path: name))
      // What somebody's link leads to is not a copy of the value.
      if let found = try POSIXDisk().status(at: to.path), found.kind != .directory {
        try POSIXDisk().remove(to.path)
      }
      do {
        try files.linkItem(at: from, to: to)
      } catch {
        try Self.copy(from, to)
      }
    }
  }

  /// For a file system without second names: the name that a reader looks for is only there once the file is whole.
  private static func copy(_ file: URL, _ place: URL) throws {
    let draft = place.appendingPathExtension("new")
    try? FileManager.default.removeItem(at: draft)
    try FileManager.default.copyItem(at: file, to: draft)
    try FileManager.default.moveItem(at: draft, to: place)
  }

  /// Removes the target's files with some names, except those that the source has.
  func remove(_ names: [String]) throws {
    let kept = Set(Self.names(in: source))
    for name in names where !kept.contains(name) {
      try FileManager.default.removeItem(at: target.appending(path: name))
    }
  }

  /// Removes the target's files, except those with some names.
  func removeAdded(since names: [String]) throws {
    for name in Set(Self.names(in: target)).subtracting(names) {
      try FileManager.default.removeItem(at: target.appending(path: name))
    }
  }

  /// The names of the regular files in a directory. A link, a pipe or a directory with such a name is no large value.
  private static func files(in directory: URL) throws -> [String] {
    try names(in: directory).filter {
      try POSIXDisk().status(at: directory.appending(path: $0).path)?.kind == .file
    }
  }

  /// The names of the files in a directory; none where it is missing.
  static func names(in directory: URL) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    return names.filter { BlobFiles.isReference($0) }
  }
}
