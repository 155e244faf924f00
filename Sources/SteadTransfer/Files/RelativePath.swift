import Foundation
import SteadFiles

/// A path below a directory, which it cannot lead out of.
struct RelativePath: Hashable, Sendable {
  /// The most bytes that a file system takes for a name.
  static let nameLimit = 255

  /// The names of directories and, last, of a file.
  let names: [String]

  /// nil for an absolute path, one with empty names, `.` or `..`, and for names that no system takes.
  init?(_ text: String) {
    names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy(Self.isName) else { return nil }
  }

  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && name.utf8.count <= nameLimit
      && !name.utf8.contains(0) && !name.utf8.contains(UInt8(ascii: "/"))
  }

  var text: String { names.joined(separator: "/") }

  /// Where the file is.
  ///
  /// - Throws: ``TransferError`` `.unsupported` when a symbolic link on the way leads elsewhere.
  func url(in directory: URL) throws -> URL {
    let disk = POSIXDisk()
    var path = directory.path(percentEncoded: false)
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    for name in names {
      path += "/" + name
      if try disk.status(at: path)?.kind == .link {
        throw TransferError(
          code: .unsupported,
          message: "The path \(text) contains a symbolic link. Files are written below the "
            + "directory alone; put a directory, or nothing, in the link's place.")
      }
    }
    return URL(filePath: path, directoryHint: .notDirectory)
  }
}
