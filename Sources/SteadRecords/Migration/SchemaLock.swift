public import Foundation

/// The schemas of all versions that were shipped, in a file next to the source: `schema.lock.json`.
///
/// A shipped version must not be edited any more, since existing stores have it; a change to a model without a new
/// version is the mistake that breaks users' stores. A test finds it:
///
/// ```swift
/// @Test func shippedSchemasStayAsTheyAre() throws {
///   try SchemaLock.check(LibraryPlan.self, against: lockURL)
/// }
/// ```
///
/// Before a release ``record(_:in:)`` adds the new versions, and the file is committed. It reads models alone, no
/// store.
public struct SchemaLock: Codable, Sendable {
  /// The newest version of the file's format that this library reads.
  private static let newestFormat = 1

  /// The version of the file's format.
  private let format: Int
  /// The schemas of the versions, oldest first; without model types, so that no container can be opened with them.
  public private(set) var versions: [Schema]

  /// A lock without versions, for the first ``record(_:)``.
  public init() {
    format = Self.newestFormat
    versions = []
  }

  /// Reads a lock.
  ///
  /// - Throws: `SwiftDataError` `.unknownSchema` if the file is missing, cannot be read, isn't a lock, or is of a newer
  ///   version of this library.
  public init(contentsOf url: URL) throws {
    try self.init(contentsOf: url, of: nil)
  }

  /// Reads the lock of a plan, which the error about a missing file names in the call that makes the file.
  private init(contentsOf url: URL, of plan: (any SchemaMigrationPlan.Type)?) throws {
    let path = url.path(percentEncoded: false)
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      let name = plan.map { "\($0)" } ?? "Plan"
      throw SwiftDataError(
        .unknownSchema,
        "\(path) does not exist, so no version is recorded. Record the versions that were shipped, by "
          + "SchemaLock.record(\(name).self, in: url), and commit the file.", cause: error)
    } catch {
      throw SwiftDataError(
        .unknownSchema,
        "\(path) cannot be read. Make it a file that this user may read, or name the lock's own file.",
        cause: error)
    }
    do {
      self = try JSONDecoder().decode(SchemaLock.self, from: data)
    } catch {
      throw SwiftDataError(
        .unknownSchema,
        "\(path) isn't a schema lock. Restore it from version control; it was left as it was.",
        cause: error)
    }
    guard format <= Self.newestFormat else {
      throw SwiftDataError(
        .unknownSchema,
        "\(path) was written by a newer version of this library. Update the library."
      )
    }
  }

  /// Writes the lock as JSON, replacing the file atomically; the same versions give the same bytes.
  ///
  /// - Throws: Foundation's errors if the file cannot be written.
  public func write(to url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    try encoder.encode(self).write(to: url, options: .atomic)
  }

  // MARK: - Comparing

  /// What differs from what was shipped, in sentences: versions that were edited, with each difference, and versions
  /// that the plan no longer has.
  ///
  /// The newest version of a plan may be missing in the lock until it is shipped.
  ///
  /// ```swift
  /// for problem in try SchemaLock(contentsOf: url).problems(of: LibraryPlan.self) { print(problem) }
  /// ```
  public func problems(of plan: any SchemaMigrationPlan.Type) -> [String] {
    let known = plan.schemas.map { ($0, Schema(versionedSchema: $0)) }
    var problems: [String] = []
    for shipped in versions {
      // By number: the type may have been renamed, which stores do not see.
      guard let (type, now) = known.first(where: { $0.1.version == shipped.version }) else {
        problems.append(
          "Version \(shipped.version) was shipped and is not in the plan. Put it back: existing stores have it."
        )
        continue
      }
      let difference = SchemaDifference(from: shipped, to: now)
      if difference.isEmpty { continue }
      problems.append(
        "\(type), version \(shipped.version), was shipped and then edited. "
          + "\(difference.description.replacing("\n", with: " ")) Restore it, and put the changes into a new version."
      )
    }
    for (type, schema) in known.dropLast() where !holds(schema.version) {
      problems.append(
        "\(type), version \(schema.version), is not recorded, and a later version is in the plan. Record it."
      )
    }
    return problems
  }

  /// Whether a version is recorded.
  private func holds(_ version: Schema.Version) -> Bool {
    versions.contains { $0.version == version }
  }

  /// Adds the versions of a plan that are missing here.
  ///
  /// - Throws: `SwiftDataError` `.unknownSchema` if a recorded version was edited; nothing is added then.
  public mutating func record(_ plan: any SchemaMigrationPlan.Type) throws {
    // A copy, so that a failing check leaves this one without the new versions.
    var new = self
    new.versions += plan.schemas.map { Schema(versionedSchema: $0) }.filter { !holds($0.version) }
    new.versions.sort { $0.version < $1.version }
    try new.check(plan)
    self = new
  }

  /// Throws all problems as one error.
  private func check(_ plan: any SchemaMigrationPlan.Type) throws {
    let problems = problems(of: plan)
    guard !problems.isEmpty else { return }
    throw SwiftDataError(.unknownSchema, problems.joined(separator: " "))
  }

  // MARK: - Files

  /// Throws unless the plan has every version of the lock as it was shipped. For a test or a step of CI.
  ///
  /// - Throws: `SwiftDataError` `.unknownSchema` with all ``problems(of:)``, or as ``init(contentsOf:)``, also if nothing
  ///   was recorded yet.
  public static func check(
    _ plan: any SchemaMigrationPlan.Type, against url: URL
  ) throws {
    try SchemaLock(contentsOf: url, of: plan).check(plan)
  }

  /// Adds a plan's new versions to a lock, creating the file if it is missing.
  ///
  /// ```swift
  /// try SchemaLock.record(LibraryPlan.self, in: lockURL)    // before a release
  /// ```
  ///
  /// - Throws: As ``check(_:against:)`` for a file that exists, and Foundation's errors if it cannot be written; the file
  ///   is then unchanged.
  public static func record(_ plan: any SchemaMigrationPlan.Type, in url: URL) throws {
    let exists = FileManager.default.fileExists(atPath: url.path)
    var lock = exists ? try SchemaLock(contentsOf: url) : SchemaLock()
    try lock.record(plan)
    try lock.write(to: url)
  }
}
