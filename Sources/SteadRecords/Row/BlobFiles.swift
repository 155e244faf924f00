import Foundation
import SteadFiles

/// The files next to a store that hold its large values.
final class BlobFiles: Sendable {
  private let blobs: BlobStore

  var directory: URL { blobs.directory }

  init(directory: URL) { blobs = BlobStore(directory: directory) }

  func write(_ data: Data) throws -> String { try blobs.write(data) }
  func read(_ reference: String) throws -> Data { try blobs.read(reference) }

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

  /// Removes the files that no row refers to, and returns their number; only while nothing else writes.
  func sweep(keeping references: Set<String>) throws -> Int { try blobs.sweep(keeping: references) }

  /// How many bytes the files have.
  func size() throws -> Int64 {
    try references().reduce(0) {
      $0 + (try POSIXDisk().status(at: blobs.directory.appending(path: $1).path)?.size ?? 0)
    }
  }

  func remove(_ reference: String) throws { try blobs.remove(reference) }

  /// Whether a file's name is a reference, and not one of a file that is being written.
  static func isReference(_ name: String) -> Bool {
    name.utf8.count == 64
      && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}
