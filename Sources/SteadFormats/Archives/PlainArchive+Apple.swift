#if canImport(Darwin)
  import Foundation

  // Not run on this project's machines.

  /// Reads archives of `NSKeyedArchiver` from untrusted files.
  package enum PlainArchive {
    /// The value of an archive of strings, numbers, dates, data, URLs, UUIDs and collections of
    /// those.
    ///
    /// - Throws: For a damaged archive, and one that contains an object of any other class.
    package static func value(_ data: Data) throws -> Any {
      let classes = NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses
      guard let value = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
      else { throw CocoaError(.coderValueNotFound) }
      return value
    }

    /// Whether data is a keyed archive, whatever its classes.
    package static func isArchive(_ data: Data) -> Bool {
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
      return (list as? [String: Any])?["$archiver"] != nil
    }
  }
#endif
