import Foundation
import SteadFiles

extension Preferences {
  /// Updates the property list files, and applies what other programs have changed in files.
  ///
  /// Values are durable without it. It is for programs that want the property list of the domain to
  /// be up to date, and for finding changes at once that a watch would report a moment later. Costs
  /// reading changed files, and writing the domain's property list if anything was set since it was
  /// last written.
  ///
  /// - Returns: Whether everything succeeded; `onError` is called for failures.
  @discardableResult
  public func synchronize() -> Bool {
    var isDone = true
    environment.shared.reloadLayers { error in
      isDone = false
      report(error)
    }
    environment.shared.renewChangedLists(report: report)
    // Only now: the list may be another one after that.
    let list = search.list
    for layer in list.layers {
      if !layer.refresh() { isDone = false }
    }
    // After the layers were refreshed, so that edits of the property list are part of the
    // checkpoint.
    if !plan.options.isReadOnly, reporting({ try list.target.checkpoint() }) == nil {
      isDone = false
    }
    return isDone && list.problem == nil
  }

  /// Returns once everything set in the domain survives a power loss.
  ///
  /// ```swift
  /// preferences.set("dark", forKey: "theme")
  /// try preferences.flush()
  /// ```
  ///
  /// Waits for the disk: a tenth of a millisecond to some milliseconds. Covers what was set through
  /// this object, also in other domains by ``setPersistentDomain(_:forName:)``. An object of
  /// ``scopedToCurrentHost()`` has a `flush()` of its own.
  ///
  /// - Throws: ``PreferencesError`` when the disk fails, when the domain could not be opened, or
  ///   while a value is not in its files.
  public func flush() throws {
    let list = search.list
    if let problem = list.problem { throw problem }
    try wrappingErrors { try list.target.flush() }
    try environment.shared.flushUnstored()
  }

  /// Flushes as ``flush()`` does, and removes all traces of removed and replaced values from the
  /// files: the checkpoint is written again, without the log.
  package func flushWithoutTraces() throws {
    let list = search.list
    if let problem = list.problem { throw problem }
    try wrappingErrors { try list.target.checkpoint() }
  }

  /// Resets the search list of ``standard``, after a ``synchronize()``, which removes added suites.
  ///
  /// The object stays the same, and so do its observers.
  public static func resetStandardUserDefaults() {
    standard.synchronize()
    standard.search.renew(report: standard.report) { $0 = [] }
  }

  // MARK: - Import and export

  /// The keys of the writable domain, sorted by their bytes.
  ///
  /// Keys of other domains in the search list are not included.
  public var keys: [String] { PropertyList.Fields(search.list.target.contents()).map(\.key) }

  /// The writable domain as a property list that other tools can read.
  ///
  /// ```swift
  /// try preferences.exportDomain().write(to: backup)
  /// ```
  ///
  /// XML has dates of whole seconds only, so a backup is binary.
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
  ///   - keepingExisting: Whether existing keys of the domain keep their values, also those that
  ///     another process sets meanwhile; but not those that it sets until an import is written that
  ///     throws `.locked` or `.unavailable`.
  /// - Returns: The number of imported keys.
  /// - Throws: ``PreferencesError`` `.damaged` when it isn't such a property list, in which case
  ///   nothing changes, or as ``setPropertyList(_:forKey:)``.
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
    let edits = fields.map { DomainEdit(key: $0.key, value: $0.value) }
    // Before the lock is taken: most imports at the start of a program have nothing left to do.
    guard edits.contains(where: { !keepingExisting || target.value(forKey: $0.key) == nil }) else {
      return 0
    }
    var count = edits.count
    // One change: an import is in effect as a whole or not at all.
    try wrappingErrors {
      try writing { target in
        // What another process sets at this moment must not be replaced by what is imported.
        if keepingExisting { count = try target.add(edits) } else { try target.apply(edits) }
      } ifDone: {
        count > 0
      }
    }
    return count
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

  /// Imports the values that Foundation's `UserDefaults` stored on Linux, except for keys that the
  /// domain already has.
  ///
  /// Foundation stores `standard` in `$XDG_CONFIG_HOME/<name>.plist`, where the name is the main
  /// bundle's identifier or the executable's name, and a suite in the file of its name. That file
  /// is not changed, so an app may call this each time it starts. Dates have lost their fractions
  /// there.
  ///
  /// - Parameter suiteName: The suite; nil means `standard`.
  /// - Returns: The number of imported keys, 0 when the file does not exist, or when the preferences have no directory,
  ///   as those in memory.
  /// - Throws: As ``importDomain(_:keepingExisting:)``, and `FileError` when the file cannot be
  ///   read.
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

// MARK: - The writable domain alone

/// The contents of the writable domain alone, without the rest of the search list.
extension Preferences {
  /// The domain's value for a key.
  ///
  /// - Throws: ``PreferencesError`` when the domain could not be opened, since its contents are
  ///   then unknown.
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

  /// All contents of the domain's files, read again. Throws as ``ownValue(forKey:)``, and when they
  /// cannot be read.
  package func storedContents() throws -> PropertyList.Fields {
    let list = search.list
    if let problem = list.problem { throw problem }
    return try wrappingErrors { PropertyList.Fields(try list.target.storedContents()) }
  }

  /// Whether the domain cannot be written.
  package var isReadOnly: Bool { plan.options.isReadOnly || search.list.target.isReadOnly }

  /// Whether both write the same domain, in the same files or the same memory.
  package func isSameDomain(as other: Preferences) -> Bool {
    search.list.target.isSame(as: other.search.list.target)
  }
}
