import Foundation
import SteadFiles

/// The directories of stores that are given by name.
enum StoreLocation {
  /// The directory of stores that are given by name.
  ///
  /// A group that cannot be a directory's name is refused by `validate()`, when the container opens.
  static func directory(group: String?) -> URL {
    guard let own = program else { return FileManager.default.temporaryDirectory }
    return group.flatMap { try? own.shared(group: $0) } ?? own.data
  }

  static func isValid(group: String) -> Bool { (try? program?.shared(group: group)) != nil }

  /// The program's directories; the leading dot of a name, as tests' may have, is removed.
  private static var program: AppDirectories? {
    let name = ProcessInfo.processInfo.processName.drop { $0 == "." }
    return try? AppDirectories(id: name.isEmpty ? "swift" : String(name))
  }
}
