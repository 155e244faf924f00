/// The findings of an import in a store, and its results.
public struct CoreDataReport: Sendable {
  /// The rows of one entity.
  public struct EntityRows: Sendable, Hashable {
    /// The entity's name in the store.
    public var entity: String
    /// The class that takes its rows; nil for an entity that is left out.
    public var className: String?
    /// The number of rows.
    public var rows: Int

    /// Rows of an entity.
    public init(entity: String, className: String?, rows: Int) {
      self.entity = entity
      self.className = className
      self.rows = rows
    }
  }

  /// The rows that were moved, or would be.
  public internal(set) var transfer = TransferReport()
  /// The store's UUID, as its `Z_METADATA` has it.
  public internal(set) var storeIdentifier = ""
  /// The entities of the store's model that have rows or a class, ordered by name.
  public internal(set) var entities: [EntityRows] = []
  /// The total number of rows that each relationship refers to, by `Class.property`.
  public internal(set) var links: [String: Int] = [:]
  /// References to rows that are not in the store, by `Class.property`. They become nil.
  public internal(set) var danglingLinks: [String: Int] = [:]
  /// References to rows of entities that are left out, by `Class.property`. They become nil.
  public internal(set) var leftOutLinks: [String: Int] = [:]
  /// Properties that the store has nothing for, as `Class.property`. They get their defaults.
  public internal(set) var missingProperties: [String] = []
  /// How often NULL became the default of a property that isn't optional, by `Class.property`.
  public internal(set) var defaultedValues: [String: Int] = [:]
  /// The possible losses of the store's files, each as a sentence.
  public internal(set) var warnings: [String] = []
  /// Columns with values for which no property exists, as `Entity.COLUMN`, or tables of pairs, with the number of
  /// values.
  public internal(set) var leftOutValues: [String: Int] = [:]
  /// Archives of objects that were taken over as the bytes that they are, by `Class.property`.
  public internal(set) var archives: [String: Int] = [:]
  /// Tables of Core Data itself that were not imported, with their numbers of rows: history, caches.
  public internal(set) var skippedTables: [String: Int] = [:]

  init() {}
}

extension CoreDataReport: CustomStringConvertible {
  /// The figures, with a line for each entity and for each kind of thing that was left out.
  public var description: String {
    var lines = ["\(transfer)"]
    for entity in entities {
      lines.append("\(entity.entity) -> \(entity.className ?? "left out"): \(entity.rows)")
    }
    let parts: [(String, [String: Int])] = [
      ("not in the store", danglingLinks), ("left out with their rows", leftOutLinks),
      ("given their defaults", defaultedValues), ("left out", leftOutValues),
      ("taken as archives", archives),
      ("of Core Data itself", skippedTables),
    ]
    for (title, figures) in parts where !figures.isEmpty {
      let told = figures.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      lines.append("\(title): \(told.joined(separator: ", "))")
    }
    if !missingProperties.isEmpty {
      lines.append("not in the store: \(missingProperties.joined(separator: ", "))")
    }
    lines += warnings.map { "warning: \($0)" }
    return lines.joined(separator: "\n")
  }
}
