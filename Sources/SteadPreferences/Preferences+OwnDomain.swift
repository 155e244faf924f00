import Foundation

/// What the domain that is written holds by itself, whatever the rest of the search list has.
extension Preferences {
  /// The value that the domain has for a key.
  ///
  /// - Throws: ``PreferencesError`` when the domain could not be opened: that it holds nothing is then not
  ///   known.
  package func ownValue(forKey key: String) throws -> PropertyList? {
    let list = search.list
    if let problem = list.problem { throw problem }
    return list.target.value(forKey: key)
  }

  /// All that the domain holds. Throws as ``ownValue(forKey:)``.
  package func ownContents() throws -> PropertyList.Fields {
    let list = search.list
    if let problem = list.problem { throw problem }
    return PropertyList.Fields(list.target.contents())
  }

  /// All that the domain's files hold, read anew. Throws as ``ownValue(forKey:)``, and when they cannot
  /// be read.
  package func storedContents() throws -> PropertyList.Fields {
    let list = search.list
    if let problem = list.problem { throw problem }
    return try reraising { PropertyList.Fields(try list.target.storedContents()) }
  }

  /// Whether nothing can be written to the domain.
  package var isReadOnly: Bool { plan.options.isReadOnly || search.list.target.isReadOnly }

  /// Whether both write the same domain, in the same files or the same memory.
  package func isSameDomain(as other: Preferences) -> Bool {
    search.list.target.isSame(as: other.search.list.target)
  }
}
