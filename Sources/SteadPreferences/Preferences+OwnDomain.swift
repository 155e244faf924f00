import Foundation

/// The contents of the writable domain alone, without the rest of the search list.
extension Preferences {
  /// The domain's value for a key.
  ///
  /// - Throws: ``PreferencesError`` when the domain could not be opened, since its contents are then unknown.
  package func ownValue(forKey key: String) throws -> PropertyList? {
    let list = search.list
    if let problem = list.problem { throw problem }
    return list.target.value(forKey: key)
  }

  /// All contents of the domain. Throws as ``ownValue(forKey:)``.
  package func ownContents() throws -> PropertyList.Fields {
    let list = search.list
    if let problem = list.problem { throw problem }
    return PropertyList.Fields(list.target.contents())
  }

  /// All contents of the domain's files, read again. Throws as ``ownValue(forKey:)``, and when they cannot be read.
  package func storedContents() throws -> PropertyList.Fields {
    let list = search.list
    if let problem = list.problem { throw problem }
    return try reraising { PropertyList.Fields(try list.target.storedContents()) }
  }

  /// Whether the domain cannot be written.
  package var isReadOnly: Bool { plan.options.isReadOnly || search.list.target.isReadOnly }

  /// Whether both write the same domain, in the same files or the same memory.
  package func isSameDomain(as other: Preferences) -> Bool {
    search.list.target.isSame(as: other.search.list.target)
  }
}
