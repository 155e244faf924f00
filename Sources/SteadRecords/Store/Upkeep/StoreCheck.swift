public import Foundation

/// The findings of a check of a container's stores, by ``ModelContainer/check(_:)``.
///
/// ```swift
/// let check = try container.check()
/// for problem in check.problems where problem.kind == .missingFile {
///   print(problem.entity ?? "", problem.rows)
/// }
/// ```
public struct StoreCheck: Sendable {
  /// A difference in a store from how this library leaves it.
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// The kind of problem, to compare with; later versions add more.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
      /// The name, by which kinds are compared.
      private let name: String

      private init(_ name: String) { self.name = name }

      /// The kind's name, for logs and metrics.
      public var description: String { name }
    }

    /// The kind of problem, to compare with.
    public let kind: Kind
    /// The store's file.
    public let store: URL
    /// The affected model; nil if the whole store is affected.
    public let entity: String?
    /// The numbers of the first affected rows, as in column `_id`, at most ``StoreCheck/rowLimit``.
    public let rows: [Int64]
    /// How many rows or files are affected.
    public let count: Int
    /// The problem and its remedy; contains no stored value.
    public let description: String
  }

  /// The maximum number of rows that one problem names.
  public static let rowLimit = 10

  /// The problems.
  public internal(set) var problems: [Problem] = []
  /// How many rows each model has, without those of its subclasses, by the model's name.
  public internal(set) var rowCounts: [String: Int] = [:]

  /// Whether there is no problem, except files that no row refers to (``Problem/Kind/unusedFile``): a process that was
  /// killed leaves them, and they are no damage.
  public var isSound: Bool { problems.allSatisfy { $0.kind == .unusedFile } }
}

extension StoreCheck: CustomStringConvertible {
  /// The problems, one per line.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension StoreCheck.Problem.Kind {
  /// SQLite finds pages or indexes damaged. Open a backup.
  public static let damagedPages = Self("damagedPages")
  /// The store was last opened with other models, or its record of them is missing or cannot be read. In the last case
  /// its files are not checked.
  public static let differentModels = Self("differentModels")
  /// The store lacks a table.
  public static let missingTable = Self("missingTable")
  /// A table lacks a column, or has one of another type.
  public static let missingColumn = Self("missingColumn")
  /// A table lacks an index; without it, unique values may not be unique. The rows are those that share one.
  public static let missingIndex = Self("missingIndex")
  /// New rows or transactions would get no numbers, so saves throw ``SwiftDataError/unreadableStore``: another program
  /// has written a row with one of the greatest numbers.
  public static let exhaustedNumbers = Self("exhaustedNumbers")
  /// Rows have a number below 1, which another program has written. In memory such numbers are those of objects that
  /// were never saved, so these objects can be fetched and changed, but a save that would delete them, or lead to them by
  /// a reference or a pair, throws ``SwiftDataError/modelValidationFailure``.
  public static let unusableNumber = Self("unusableNumber")
  /// Rows have a number that no class of their hierarchy has.
  public static let unknownClass = Self("unknownClass")
  /// A relationship leads to a row that does not exist, or is of another class. It reads as nil.
  public static let danglingReference = Self("danglingReference")
  /// A required relationship leads nowhere. Its object can't be saved until it leads to another one.
  public static let missingReference = Self("missingReference")
  /// A to-many relationship has no definite order.
  public static let ambiguousOrder = Self("ambiguousOrder")
  /// A member's place in a to-many relationship is a number that its table has not given out yet: another program has
  /// written it, or an earlier version of this library has removed the row that had the number, in a migration or by
  /// ``ModelContainer/restore(to:author:)``. Members that are added later come before it.
  public static let futurePlace = Self("futurePlace")
  /// Rows are in a list of none of the relationships that share an inverse.
  public static let unknownList = Self("unknownList")
  /// Rows refer to files that do not exist. Restore the directory of large values from the same backup as the store.
  public static let missingFile = Self("missingFile")
  /// Files do not contain what was written to them.
  public static let damagedFile = Self("damagedFile")
  /// No row refers to some files, as after a process was killed while it saved or migrated a store. They only take up
  /// space, and a store with no other problem ``StoreCheck/isSound``. ``ModelContainer/compact(_:)`` removes them.
  public static let unusedFile = Self("unusedFile")
}

// MARK: - Progress

/// The progress of a check, backup or compaction of a container's stores.
///
/// ```swift
/// try container.backUp(to: url) { progress in
///   bar.fraction = Double(progress.completed) / Double(progress.total ?? .max)
/// }
/// ```
public struct StoreProgress: Sendable, Hashable {
  /// The current step.
  public enum Phase: String, Sendable {
    /// SQLite reads the pages of a store.
    case checkingPages
    /// The tables of the models are read, one after the other.
    case checkingRows
    /// The files of large values are read, or looked for those that no row refers to.
    case checkingFiles
    /// The files of large values are copied.
    case copyingFiles
    /// The pages of a store are copied.
    case copyingPages
    /// SQLite writes a store again without free pages.
    case compacting
  }

  /// The current step.
  public var phase: Phase
  /// How many pages, tables or files are done.
  public var completed: Int
  /// The total; nil while it is unknown, and if SQLite does not report it.
  public var total: Int?

  /// Called with the progress; it stops the work by throwing, for example `CancellationError`.
  public typealias Report = (StoreProgress) throws -> Void

  /// Creates a progress value.
  public init(phase: Phase, completed: Int, total: Int?) {
    self.phase = phase
    self.completed = completed
    self.total = total
  }
}

/// Passes progress on, and throws if the task is cancelled.
struct StoreProgressReporter {
  let report: StoreProgress.Report

  init(_ report: @escaping StoreProgress.Report) { self.report = report }

  /// Reports progress.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, and what the program's function
  ///   throws.
  func send(_ phase: StoreProgress.Phase, _ completed: Int, of total: Int?) throws {
    try Task.checkCancellation()
    try report(StoreProgress(phase: phase, completed: completed, total: total))
  }
}

// MARK: - Rows in messages

/// Rows of a finding: the numbers of the first ones, and the total.
struct FoundRows {
  /// The numbers of the first rows, at most ``StoreCheck/rowLimit``.
  private(set) var first: [Int64] = []
  /// How many rows were found in all.
  private(set) var count = 0

  /// Adds a row; beyond the limit it is only counted.
  mutating func add(_ row: Int64) {
    if count < StoreCheck.rowLimit { first.append(row) }
    count += 1
  }

  /// Counts rows without a number.
  mutating func count(_ number: Int) { count += number }
}

extension FoundRows: CustomStringConvertible {
  /// The rows in the words of a sentence: `rows 1, 2 and 9`.
  var description: String {
    let numbers = first.map(String.init)
    if count > first.count {
      return "rows \(numbers.joined(separator: ", ")) and \(count - first.count) more"
    }
    guard numbers.count > 1 else { return "row \(numbers.first ?? "?")" }
    return "rows \(numbers.dropLast().joined(separator: ", ")) and \(numbers[numbers.count - 1])"
  }
}
