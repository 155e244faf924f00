import Foundation
import SteadFiles

/// The files beside a store that hold its large values.
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
    // The other way of reading says what is wrong.
    return SHA256.hexadecimal(data) == reference ? data : try read(reference)
  }

  func remove(_ reference: String) throws { try blobs.remove(reference) }

  /// Whether a file's name is a reference, and not one of a file that is being written.
  static func isReference(_ name: String) -> Bool {
    name.utf8.count == 64
      && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}
