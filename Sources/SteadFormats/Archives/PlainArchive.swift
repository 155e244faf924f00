#if !canImport(Darwin)
  import Foundation

  /// Archives of NSKeyedArchiver from files that are not to be trusted.
  package enum PlainArchive {
    /// The value of an archive of texts, numbers, dates, data, URLs, UUIDs and collections of them.
    ///
    /// Throws for one that holds an object of another class, and for a damaged one.
    package static func value(_ data: Data) throws -> Any {
      try KeyedArchive(data, allowing: KeyedArchive.plainClasses).plainRoot()
    }

    /// Whether data is an archive, of whatever classes.
    package static func isArchive(_ data: Data) -> Bool {
      guard case .dictionary(let fields)? = try? BinaryPropertyList.decode(data) else {
        return false
      }
      return fields["$archiver"] != nil
    }
  }
#endif
