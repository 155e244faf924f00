public import Foundation
import SteadFiles

/// Where a container keeps some or all of its models.
///
/// ```swift
/// let file = ModelConfiguration(url: directory.appending(path: "trips.store"))
/// let memory = ModelConfiguration(isStoredInMemoryOnly: true)  // for tests
/// ```
///
/// A value: making one touches no file. The container checks it (``validate()``) and opens the store. Prefer a URL: a
/// store that is configured by name is in a directory that has the name of the running program, so a renamed
/// executable begins with an empty store, and two programs of one name share one.
///
/// Two configurations are equal if their names, files, schemas, ``allowsSave`` and ``isStoredInMemoryOnly`` are.
public struct ModelConfiguration: Hashable, Identifiable, CustomDebugStringConvertible, Sendable {
  /// The directory that has the store of a configuration by name: the program's own, or one that several programs
  /// share.
  ///
  /// ```swift
  /// ModelConfiguration("Trips", groupContainer: .identifier("group.org.example"))
  /// // $XDG_DATA_HOME/group.org.example/Trips.store
  /// ```
  public struct GroupContainer: Hashable, Sendable {
    /// The group's name; nil for the program's own directory.
    let identifier: String?
    /// Tells ``automatic`` from ``none``, which mean the same here.
    let isAutomatic: Bool

    /// The program's own directory.
    public static let automatic = GroupContainer(identifier: nil, isAutomatic: true)
    /// The program's own directory; the same as ``automatic``, since this system has no entitlements.
    public static let none = GroupContainer(identifier: nil, isAutomatic: false)
    /// The directory of a group of programs: `$XDG_DATA_HOME/<name>`.
    ///
    /// A name that cannot be a directory's makes opening the container throw
    /// ``SwiftDataError/configurationFileNameContainsInvalidCharacters``.
    public static func identifier(_ name: String) -> GroupContainer {
      GroupContainer(identifier: name, isAutomatic: false)
    }
  }

  /// The CloudKit database that Apple's framework would sync with; stored, but without effect here.
  public struct CloudKitDatabase: Hashable, Sendable {
    /// The container's identifier; nil for none.
    let identifier: String?
    let isAutomatic: Bool

    /// The same as ``none`` here.
    public static let automatic = CloudKitDatabase(identifier: nil, isAutomatic: true)
    /// No database.
    public static let none = CloudKitDatabase(identifier: nil, isAutomatic: false)
    /// A database by the identifier of its container; only kept.
    public static func `private`(_ name: String) -> CloudKitDatabase {
      CloudKitDatabase(identifier: name, isAutomatic: false)
    }
  }

  /// The length of the longest name, in bytes: the file system's limit, less the log's suffix.
  static let nameLimit = 240

  /// The configuration's name, by default `default`, or the file's name without its extension. No other configuration
  /// of the container may have it.
  public let name: String
  /// The store's file; `/dev/null` for a store in memory.
  ///
  /// Next to it are its log (`-wal`, `-shm`), the directory `.<file>_external` with large values, and `<file>.backup`
  /// after a migration that lost data. Move and copy them together, or use `ModelContainer.backUp(to:)`.
  public let url: URL
  /// Whether contexts may save. A store that may not be written is not migrated either.
  ///
  /// If it is false, a save throws ``SwiftDataError/readOnlyStore``. A store that was made for older models can then be
  /// opened as far as these models read its values, and a fetch of what it lacks throws
  /// ``SwiftDataError/unknownSchema``.
  public let allowsSave: Bool
  /// Whether the store is in memory, and ends with its container.
  ///
  /// Two containers with such a store share nothing. Reads and writes of it exclude each other.
  public let isStoredInMemoryOnly: Bool
  /// The group whose directory has the file.
  public let groupContainer: GroupContainer
  /// Without effect: there is no CloudKit here.
  public let cloudKitDatabase: CloudKitDatabase
  /// The models of this store; nil for those that no other configuration of the container has.
  ///
  /// A model that several configurations have is in the store of the first one.
  public var schema: Schema?
  // What ModelConfiguration+Stead.swift declares is stored here, since an extension stores nothing.
  var keptHistory = History.on
  var keptLimits = HistoryLimits.none
  var keptSync = Sync.none
  var keptDiscardedData: Set<String> = []
  /// The properties whose values a custom stage's changes convert.
  var conversions: Set<ValueConversion.Property> = []
  /// The store's role in a migration, which sets what is checked, backed up and recorded.
  var migration = MigrationRole.none
  /// The version that a new store records, if a migration plan gives it another one than the container's schema.
  var newVersion: Schema.Version?
  /// Whether the store is a copy with the contents after an earlier transaction.
  var isPast = false

  /// The identifier of ``groupContainer``.
  public var groupAppContainerIdentifier: String? { groupContainer.identifier }
  /// The identifier of ``cloudKitDatabase``.
  public var cloudKitContainerIdentifier: String? { cloudKitDatabase.identifier }
  /// The store's file.
  public var id: URL { url }

  /// Creates the default store's configuration: `default.store` in the program's data directory, or memory.
  ///
  /// Set `isStoredInMemoryOnly` for tests and previews: the store begins empty and ends with the container.
  public init(isStoredInMemoryOnly: Bool = false) {
    self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  /// Creates a configuration of the default store for some of the container's models, and those that they refer to.
  ///
  /// ```swift
  /// let trips = ModelConfiguration(for: Trip.self)
  /// let tiles = ModelConfiguration("Tiles", schema: Schema([Tile.self]))
  /// let container = try ModelContainer(for: Trip.self, Tile.self, configurations: trips, tiles)
  /// ```
  public init(for types: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(
      nil, schema: types.isEmpty ? nil : Schema(types),
      isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  /// Creates a configuration of a store by name: `<name>.store` in the program's data directory.
  ///
  /// The directory is `$XDG_DATA_HOME/PROGRAM`, with `~/.local/share` by default and the name of the running
  /// executable; with a `groupContainer` it is the group's. The container makes it when it opens the store.
  ///
  /// - Parameters:
  ///   - name: The file's name without its extension, at most 240 bytes; `default` if it is nil.
  ///   - schema: The models of the store; nil for those that no other configuration of the container has.
  ///   - isStoredInMemoryOnly: Whether the store is in memory, without a file.
  ///   - allowsSave: Whether contexts may save, and the store may be migrated.
  ///   - groupContainer: Whose directory has the file.
  ///   - cloudKitDatabase: Kept, without effect.
  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false,
    allowsSave: Bool = true, groupContainer: GroupContainer = .automatic,
    cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? "default"
    self.schema = schema
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.allowsSave = allowsSave
    self.groupContainer = groupContainer
    self.cloudKitDatabase = cloudKitDatabase
    if isStoredInMemoryOnly {
      url = URL(filePath: "/dev/null")
    } else {
      url = StoreLocation.directory(group: groupContainer.identifier)
        .appendingPathComponent("\(name ?? "default").store")
    }
  }

  /// Creates a configuration of a store in a file of your choice.
  ///
  /// ```swift
  /// let directory = try AppDirectories(id: "org.example.trips").create(\.data)
  /// let configuration = ModelConfiguration(url: directory.appending(path: "trips.store"))
  /// ```
  ///
  /// - Parameters:
  ///   - name: The configuration's name; the file's without its extension if it is nil.
  ///   - schema: The models of the store; nil for those that no other configuration of the container has.
  ///   - url: The file, on a local disk. The container creates it, and the directories above it, if they are missing.
  ///   - allowsSave: Whether contexts may save, and the store may be migrated.
  ///   - cloudKitDatabase: Kept, without effect.
  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.schema = schema
    self.url = url
    self.allowsSave = allowsSave
    self.cloudKitDatabase = cloudKitDatabase
    isStoredInMemoryOnly = false
    groupContainer = .none
  }

  /// Throws if the name cannot be a file's name. The container calls it before it opens a store.
  ///
  /// - Throws: ``SwiftDataError/configurationFileNameContainsInvalidCharacters`` for a name with a slash or a NUL, and
  ///   for a group that cannot be a directory's name; ``SwiftDataError/configurationFileNameTooLong`` for a name of
  ///   more than 240 bytes.
  public func validate() throws {
    if name.contains("/") || name.contains("\0") {
      throw SwiftDataError(
        .configurationFileNameContainsInvalidCharacters,
        "A configuration's name becomes a file's name; it cannot contain a slash or a NUL.")
    }
    if let group = groupContainer.identifier, !StoreLocation.isValid(group: group) {
      throw SwiftDataError(
        .configurationFileNameContainsInvalidCharacters,
        "A group's identifier becomes a directory's name; use letters, digits, dots and dashes.")
    }
    if name.utf8.count > Self.nameLimit {
      throw SwiftDataError(
        .configurationFileNameTooLong,
        "A configuration's name has at most \(Self.nameLimit) bytes; this one has "
          + "\(name.utf8.count). Shorten it.")
    }
  }

  /// The name and the file, for logs.
  public var debugDescription: String {
    "ModelConfiguration \(name): \(isStoredInMemoryOnly ? "in memory" : url.path)"
  }

  /// Compares names, files, schemas, ``allowsSave`` and ``isStoredInMemoryOnly``; not histories,
  /// limits or zones.
  public static func == (left: ModelConfiguration, right: ModelConfiguration) -> Bool {
    left.name == right.name && left.url == right.url && left.schema == right.schema
      && left.isStoredInMemoryOnly == right.isStoredInMemoryOnly
      && left.allowsSave == right.allowsSave
  }

  public func hash(into hasher: inout Hasher) {
    // Two of the compared parts, in which configurations mostly differ.
    hasher.combine(name)
    hasher.combine(url)
  }
}

/// The role of a store while the stages of a migration plan run.
enum MigrationRole: Hashable {
  /// A program's own store.
  case none
  /// A working copy, which needs no backup.
  case ofCopy
  /// A copy that a stage changes, which may lead to an earlier version.
  case ofStage
  /// A copy that a stage changes before a custom stage, to the models that this one starts from.
  case beforeCustomStage
  /// A copy that a custom stage changes. Its closures set values that are missing, so they are not checked.
  case ofCustomStage
}

// MARK: - Directories

/// The directories of stores that are configured by name.
enum StoreLocation {
  /// The directory of stores that are given by name.
  ///
  /// A group that cannot be a directory's name is refused by `validate()`, when the container opens.
  static func directory(group: String?) -> URL {
    guard let own = program else { return FileManager.default.temporaryDirectory }
    return group.flatMap { try? own.shared(group: $0) } ?? own.data
  }

  /// Whether a group's identifier can be a directory's name.
  static func isValid(group: String) -> Bool { (try? program?.shared(group: group)) != nil }

  /// The program's directories; the leading dot of a name, as tests' may have, is removed.
  private static var program: AppDirectories? {
    let name = ProcessInfo.processInfo.processName.drop { $0 == "." }
    return try? AppDirectories(id: name.isEmpty ? "swift" : String(name))
  }
}

// MARK: - Entities of each store

/// The assignment of entities to configurations.
///
/// Invariant: a contradiction between configurations throws before any file is opened. Of the disk only the directories
/// of files of one name are looked at.
struct StoreAssignment {
  /// For each configuration the indices of its entities. Disjoint: an entity that several schemas have belongs to the
  /// first.
  let entities: [Set<Int>]

  /// Assigns each entity to one configuration.
  ///
  /// - Throws: `duplicateConfiguration`, `configurationSchemaNotFoundInContainerSchema`, and what
  ///   ``ModelConfiguration/validate()`` throws.
  init(layout: StoreLayout, configurations: [ModelConfiguration]) throws {
    for (index, configuration) in configurations.enumerated() {
      try configuration.validate()
      for earlier in configurations[..<index] {
        if let conflict = Self.conflict(earlier, configuration) {
          throw SwiftDataError(.duplicateConfiguration, conflict)
        }
      }
    }
    var taken: Set<Int> = []
    var result: [Set<Int>] = []
    for configuration in configurations {
      guard let schema = configuration.schema else {
        result.append([])
        continue
      }
      let indices = try schema.entities.map { entity in
        guard let found = layout.entity(named: entity.name) else {
          throw SwiftDataError(
            .configurationSchemaNotFoundInContainerSchema,
            "\(entity.name) of configuration \(configuration.name) is not in the container's "
              + "schema.")
        }
        return found.index
      }
      // What an earlier configuration has stays there.
      result.append(Set(indices).subtracting(taken))
      taken.formUnion(indices)
    }
    // A configuration without a schema holds the models that the others don't.
    for (index, configuration) in configurations.enumerated() where configuration.schema == nil {
      result[index] = Set(layout.entities.indices).subtracting(taken)
      taken.formUnion(layout.entities.indices)
    }
    entities = result
  }

  /// What two configurations have in common that each needs for itself, with the remedy; nil if it is nothing.
  private static func conflict(
    _ earlier: ModelConfiguration, _ configuration: ModelConfiguration
  ) -> String? {
    let name = configuration.name
    let path = configuration.url.path(percentEncoded: false)
    // All stores in memory have the same URL.
    let isOnFile = !earlier.isStoredInMemoryOnly && !configuration.isStoredInMemoryOnly
    let isOneFile = isOnFile && OpenStores.isOnePlace(earlier.url, configuration.url)
    return switch (earlier.name == name, isOneFile) {
    case (false, false): nil
    case (true, false): "Two configurations are named \(name). Give each a different name."
    case (false, true):
      "The configurations \(earlier.name) and \(name) share the file \(path). Give each a file of its own, or have "
        + "one configuration for the models of both."
    case (true, true):
      "Two configurations are named \(name) and share the file \(path). Give each a name and a file of its own."
    }
  }
}
