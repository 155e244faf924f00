#if !canImport(Darwin)
  import Foundation

  /// Archives of NSKeyedArchiver from files that are not to be trusted.
  package enum PlainArchive {
    /// The value of an archive of texts, numbers, dates, data, URLs, UUIDs and collections of them.
    ///
    /// Throws for one that holds an object of another class, and for a damaged one.
    package static func value(_ data: Data) throws -> Any {
      let classes = NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses
      return try KeyedArchive(data, allowing: classes).plainRoot()
    }

    /// Whether data is an archive, of whatever classes.
    package static func isArchive(_ data: Data) -> Bool {
      guard data.starts(with: Data("bplist".utf8)), let list = try? BinaryPropertyList(data) else {
        return false
      }
      return list.value("$archiver", in: list.root) != nil
    }
  }
#endif
