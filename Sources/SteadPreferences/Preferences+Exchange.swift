import Foundation
import SteadFiles

extension Preferences {
  /// The keys of the domain that is written, in the order of their bytes.
  ///
  /// Keys that only other domains of the search list have are not among them.
  public var keys: [String] { PropertyList.Fields(search.list.target.contents()).map(\.key) }

  /// The domain that is written, as a property list that other tools read.
  ///
  /// - Throws: `PropertyListError` for values that the format lacks: XML has no control characters.
  public func exportDomain(format: PropertyList.Format = .binary) throws -> Data {
    try PropertyList.dictionary(.init(search.list.target.contents())).data(format: format)
  }

  /// Takes the keys and values of a property list into the domain, as one change.
  ///
  /// - Parameters:
  ///   - data: A property list of any format whose top is a dictionary, such as a file of
  ///     `~/Library/Preferences` of Apple's systems.
  ///   - keepingExisting: Whether keys that the domain has keep their values.
  /// - Returns: How many keys were taken in.
  /// - Throws: ``PreferencesError`` `.damaged` when that is no such property list, in which case nothing
  ///   is changed, or as ``setPropertyList(_:forKey:)``.
  @discardableResult
  public func importDomain(_ data: Data, keepingExisting: Bool = false) throws -> Int {
    let fields: PropertyList.Fields
    do {
      fields = try PropertyList.fields(of: data)
    } catch {
      throw PreferencesError(
        code: .damaged, message: "What was to be brought in is no property list of a dictionary.",
        domain: domain, cause: error)
    }
    let target = search.list.target
    let edits = fields.filter { !keepingExisting || target.value(forKey: $0.key) == nil }
      .map { DomainEdit(key: $0.key, value: $0.value) }
    guard !edits.isEmpty else { return 0 }
    try reraising { try writing { target in try target.apply(edits) } }
    return edits.count
  }

  /// Takes the keys and values of a property list file into the domain, as one change.
  ///
  /// As ``importDomain(_:keepingExisting:)`` in all else. The file is not changed.
  ///
  /// - Throws: `FileError` when the file cannot be read.
  @discardableResult
  public func importDomain(from file: URL, keepingExisting: Bool = false) throws -> Int {
    try importDomain(AtomicFile(file).read(), keepingExisting: keepingExisting)
  }

  /// Takes in what Foundation's `UserDefaults` has kept on Linux, without the keys that the domain has.
  ///
  /// Foundation keeps `standard` in `$XDG_CONFIG_HOME/<name>.plist`, where the name is the main bundle's
  /// identifier or the executable's name, and a suite in the file of its name. That file is not
  /// changed, so an app may call this each time it starts. Dates have lost their fractions there.
  ///
  /// - Parameter suiteName: The suite; nil for what `standard` has kept.
  /// - Returns: How many keys were taken in, 0 when there is no such file.
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
