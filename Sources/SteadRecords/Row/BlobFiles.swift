import Foundation
import SteadEncoding
import SteadFiles

/// The files next to a store that hold its large values.
final class BlobFiles: Sendable {
  private let blobs: BlobStore
  /// What leads to the files besides rows.
  let uses: FileUses

  var directory: URL { blobs.directory }

  init(directory: URL) {
    blobs = BlobStore(directory: directory)
    uses = FileUses.of(directory)
  }

  func write(_ data: Data) throws -> String { try blobs.write(data) }

  /// The content of a file, which may have been unlinked since.
  func read(_ reference: String) throws -> Data {
    do {
      return try blobs.read(reference)
    } catch let error as FileError where error.code == .notFound {
      guard let data = try uses.read(reference), SHA256.hexadecimal(data) == reference else {
        throw error
      }
      return data
    }
  }

  func contains(_ reference: String) throws -> Bool { try blobs.contains(reference) }

  /// As ``read(_:)``, without taking memory for the bytes while they are not looked at.
  func map(_ reference: String) throws -> Data {
    guard try blobs.contains(reference) else { return try read(reference) }
    let url = blobs.directory.appending(path: reference, directoryHint: .notDirectory)
    let data = try Data(contentsOf: url, options: .alwaysMapped)
    // The other way of reading reports the error.
    return SHA256.hexadecimal(data) == reference ? data : try read(reference)
  }

  /// The names of all files.
  func references() throws -> Set<String> { try blobs.references() }

  /// Whether a sweep removes the file, if no row refers to it.
  func isRemovable(_ reference: String) throws -> Bool { try blobs.isRemovable(reference) }

  /// Removes the files that no row refers to; only while nothing else writes.
  ///
  /// - Parameter keepsHeld: Whether a file stays that something in this process leads to and that cannot be kept open.
  func sweep(keeping references: Set<String>, keepsHeld: Bool) throws {
    var kept = references
    for reference in try blobs.references().subtracting(references) {
      if try !remove(reference), keepsHeld { kept.insert(reference) }
    }
    try blobs.sweep(keeping: kept)
  }

  /// How many bytes the files have.
  func size() throws -> Int64 {
    try references().reduce(0) {
      $0 + (try POSIXDisk().status(at: blobs.directory.appending(path: $1).path)?.size ?? 0)
    }
  }

  /// Removes a file to which no row leads; what something in this process can bring back stays readable.
  @discardableResult
  func remove(_ reference: String) throws -> Bool {
    let url = blobs.directory.appending(path: reference, directoryHint: .notDirectory)
    return try uses.remove(reference, at: url) { try blobs.remove(reference) }
  }

  /// Whether a file's name is a reference, and not one of a file that is being written.
  static func isReference(_ name: String) -> Bool {
    name.utf8.count == 64
      && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}
