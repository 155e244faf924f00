public import Foundation

/// What a check of a container's stores has found.
public struct StoreCheck: Sendable {
  /// Something in a store that is not as this library leaves it.
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, to compare with; later versions add more.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
      private let name: String

      private init(_ name: String) { self.name = name }

      /// The kind's name, for logs and metrics.
      public var description: String { name }
    }

    /// What is wrong, to compare with.
    public let kind: Kind
    /// The store's file.
    public let store: URL
    /// The model that it is about; nil for what is about the whole store.
    public let entity: String?
    /// The numbers of the first rows that it is about, as column `_id` has them, at most ``StoreCheck/rowLimit``.
    public let rows: [Int64]
    /// How many rows or files it is about.
    public let count: Int
    /// What is wrong and what to do about it; holds no stored value.
    public let description: String
  }

  /// How many rows of one problem are named.
  public static let rowLimit = 10

  /// What is wrong. Empty for stores that are sound.
  public internal(set) var problems: [Problem] = []
  /// How many rows each model has, without those of its subclasses, by the model's name.
  public internal(set) var rowCounts: [String: Int] = [:]

  /// Whether nothing is wrong.
  public var isSound: Bool { problems.isEmpty }
}

extension StoreCheck: CustomStringConvertible {
  /// The problems, a line each.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension StoreCheck.Problem.Kind {
  /// SQLite finds pages or indexes damaged.
  public static let damagedPages = Self("damagedPages")
  /// The store was opened with other models last.
  public static let differentModels = Self("differentModels")
  /// The store lacks a table.
  public static let missingTable = Self("missingTable")
  /// A table lacks a column, or has one of another type.
  public static let missingColumn = Self("missingColumn")
  /// A table lacks an index, without which values that are to be unique may not be.
  public static let missingIndex = Self("missingIndex")
  /// Rows have the number of no class of their hierarchy.
  public static let unknownClass = Self("unknownClass")
  /// A relationship leads to a row that does not exist, or is of another class.
  public static let danglingReference = Self("danglingReference")
  /// A to-many relationship has no definite order.
  public static let ambiguousOrder = Self("ambiguousOrder")
  /// Rows are in a list that none of the relationships is which share an inverse.
  public static let unknownList = Self("unknownList")
  /// Rows refer to files that do not exist.
  public static let missingFile = Self("missingFile")
  /// Files do not hold what was written to them.
  public static let damagedFile = Self("damagedFile")
  /// No row refers to some files.
  public static let unusedFile = Self("unusedFile")
}
