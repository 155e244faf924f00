#if canImport(Darwin)
  import Foundation

  // Not run on this project's machines.

  /// Reads NSKeyedArchiver archives from untrusted files.
  package enum PlainArchive {
    /// Returns the value of an archive of strings, numbers, dates, data, URLs, UUIDs and collections of them.
    ///
    /// Throws for an archive that contains an object of another class, and for a damaged one.
    package static func value(_ data: Data) throws -> Any {
      let classes = NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses
      guard let value = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
      else { throw CocoaError(.coderValueNotFound) }
      return value
    }

    /// Whether data is an archive, of any classes.
    package static func isArchive(_ data: Data) -> Bool {
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
      return (list as? [String: Any])?["$archiver"] != nil
    }
  }
#endif
