import Foundation
import SteadFiles

/// A copy of an unparsable file under another name.
struct AsideFile {
  /// The maximum number of damaged copies of one file.
  static let limit = 100

  let original: URL

  init(of original: URL) {
    self.original = original
  }

  /// Keeps the bytes as `NAME.damaged-1` or the next free number, and returns the name.
  ///
  /// - Throws: ``PreferencesError`` `.damaged` when ``limit`` copies exist already; the original must then be
  ///   left in place.
  func keep(_ data: Data) throws -> String {
    for number in 1...Self.limit {
      let name = "\(original.lastPathComponent).damaged-\(number)"
      let url = original.deletingLastPathComponent().appending(path: name)
      do {
        try AtomicFile(url).create(with: data)
        return name
      } catch let error as FileError where error.code == .alreadyExists {
        if try AtomicFile(url).readIfPresent() == data { return name }
      }
    }
    throw PreferencesError(
      code: .damaged,
      message:
        "\(original.lastPathComponent) does not parse, and \(Self.limit) damaged copies of it "
        + "exist already. Check them and move them away.")
  }
}
