import Foundation
import SteadFiles

extension Preferences {
  /// The keys of the writable domain, sorted by their bytes.
  ///
  /// Keys of other domains in the search list are not included.
  public var keys: [String] { PropertyList.Fields(search.list.target.contents()).map(\.key) }

  /// The writable domain as a property list that other tools can read.
  ///
  /// - Throws: `PropertyListError` for values that the format lacks: XML has no control characters.
  public func exportDomain(format: PropertyList.Format = .binary) throws -> Data {
    try PropertyList.dictionary(.init(search.list.target.contents())).data(format: format)
  }

  /// Imports the keys and values of a property list into the domain, as one change.
  ///
  /// - Parameters:
  ///   - data: A property list in any format whose root is a dictionary, such as a file in
  ///     `~/Library/Preferences` on Apple's systems.
  ///   - keepingExisting: Whether existing keys of the domain keep their values.
  /// - Returns: The number of imported keys.
  /// - Throws: ``PreferencesError`` `.damaged` when it isn't such a property list, in which case nothing
  ///   changes, or as ``setPropertyList(_:forKey:)``.
  @discardableResult
  public func importDomain(_ data: Data, keepingExisting: Bool = false) throws -> Int {
    let fields: PropertyList.Fields
    do {
      fields = try PropertyList.fields(of: data)
    } catch {
      throw PreferencesError(
        code: .damaged,
        message:
          "The data to import isn't a property list with a dictionary as its root. Nothing was imported; "
          + "give the contents of a property list file.",
        domain: domain, cause: error)
    }
    let target = search.list.target
    let edits = fields.filter { !keepingExisting || target.value(forKey: $0.key) == nil }
      .map { DomainEdit(key: $0.key, value: $0.value) }
    guard !edits.isEmpty else { return 0 }
    try reraising { try writing { target in try target.apply(edits) } }
    return edits.count
  }

  /// Imports the keys and values of a property list file into the domain, as one change.
  ///
  /// Otherwise it works as ``importDomain(_:keepingExisting:)``. The file is not changed.
  ///
  /// - Throws: `FileError` when the file cannot be read.
  @discardableResult
  public func importDomain(from file: URL, keepingExisting: Bool = false) throws -> Int {
    try importDomain(AtomicFile(file).read(), keepingExisting: keepingExisting)
  }

  /// Imports the values that Foundation's `UserDefaults` stored on Linux, except for keys that the domain
  /// already has.
  ///
  /// Foundation stores `standard` in `$XDG_CONFIG_HOME/<name>.plist`, where the name is the main bundle's
  /// identifier or the executable's name, and a suite in the file of its name. That file is not changed, so
  /// an app may call this each time it starts. Dates have lost their fractions there.
  ///
  /// - Parameter suiteName: The suite; nil means `standard`.
  /// - Returns: The number of imported keys, 0 when the file does not exist.
  /// - Throws: As ``importDomain(_:keepingExisting:)``, and `FileError` when the file cannot be read.
  @discardableResult
  public func importFoundationDefaults(suiteName: String? = nil) throws -> Int {
    let name = suiteName ?? environment.appID
    try DomainName.check(name)
    guard let directory = environment.directories.config else { return 0 }
    let file = directory.appending(path: "\(name).plist", directoryHint: .notDirectory)
    guard let data = try AtomicFile(file).readIfPresent() else { return 0 }
    return try importDomain(data, keepingExisting: true)
  }
}
