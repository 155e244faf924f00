#if !canImport(Darwin)
  import Foundation

  /// Reads NSKeyedArchiver archives from untrusted files.
  package enum PlainArchive {
    /// Returns the value of an archive of strings, numbers, dates, data, URLs, UUIDs and collections of them.
    ///
    /// Throws for an archive that contains an object of another class, and for a damaged one.
    package static func value(_ data: Data) throws -> Any {
      try KeyedArchive(data, allowing: KeyedArchive.plainClasses).plainRoot()
    }

    /// Whether data is an archive, of any classes.
    package static func isArchive(_ data: Data) -> Bool {
      guard case .dictionary(let fields)? = try? BinaryPropertyList.decode(data) else {
        return false
      }
      return fields["$archiver"] != nil
    }
  }
#endif
