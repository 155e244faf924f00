public import Foundation

/// The schemas of all versions that were shipped, in a file that is kept beside the source: `schema.lock.json`.
///
/// A version that was shipped may not be edited any more, since there are stores that have it. A test finds out:
///
/// ```swift
/// @Test func shippedSchemasStayAsTheyAre() throws {
///   try SchemaLock.check(LibraryPlan.self, against: lockURL)
/// }
/// ```
///
/// Before a release ``record(_:in:)`` adds the versions that are new, and the file is committed.
public struct SchemaLock: Codable, Sendable {
  /// The version of the file's format.
  private static let newestFormat = 1

  private let format: Int
  /// The schemas of the versions, oldest first.
  public private(set) var versions: [Schema]

  /// A lock without versions.
  public init() {
    format = Self.newestFormat
    versions = []
  }

  /// Reads a lock.
  ///
  /// - Throws: `SwiftDataError` where the file is no lock, or of a newer version of this library; Foundation's errors
  ///   where it cannot be read.
  public init(contentsOf url: URL) throws {
    let data = try Data(contentsOf: url)
    do {
      self = try JSONDecoder().decode(SchemaLock.self, from: data)
    } catch {
      throw SwiftDataError(
        .unknownSchema,
        "\(url.lastPathComponent) is no schema lock. Take it back from the version control; it was left as it was.",
        cause: error)
    }
    guard format <= Self.newestFormat else {
      throw SwiftDataError(
        .unknownSchema,
        "\(url.lastPathComponent) was written by a newer version of this library. Update the library."
      )
    }
  }

  /// Writes the lock as JSON, replacing the file at once; the same versions are the same bytes.
  public func write(to url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    try encoder.encode(self).write(to: url, options: .atomic)
  }

  // MARK: Comparing

  /// What is not as it was shipped, in sentences: versions that were edited, with each difference, and versions that
  /// the plan does not have any more.
  ///
  /// The newest version of a plan may be missing here, as long as it is not shipped.
  public func problems(of plan: any SchemaMigrationPlan.Type) -> [String] {
    let known = plan.schemas.map { ($0, Schema(versionedSchema: $0)) }
    var problems: [String] = []
    for shipped in versions {
      guard let (type, now) = known.first(where: { $0.1.version == shipped.version }) else {
        problems.append(
          "Version \(shipped.version) was shipped and is not in the plan. Put it back: there are stores that have it."
        )
        continue
      }
      let difference = SchemaDifference(from: shipped, to: now)
      if difference.isEmpty { continue }
      problems.append(
        "\(type), version \(shipped.version), was shipped and then edited. "
          + "\(difference.description.replacing("\n", with: " ")) Put it back, and make a new version of the changes."
      )
    }
    for (type, schema) in known.dropLast() where !holds(schema.version) {
      problems.append(
        "\(type), version \(schema.version), is not recorded, and a later version is in the plan. Record it."
      )
    }
    return problems
  }

  private func holds(_ version: Schema.Version) -> Bool {
    versions.contains { $0.version == version }
  }

  /// Adds the versions of a plan that are not here.
  ///
  /// - Throws: `SwiftDataError` `.unknownSchema` when one that is here was edited; nothing is added then.
  public mutating func record(_ plan: any SchemaMigrationPlan.Type) throws {
    var new = self
    new.versions += plan.schemas.map { Schema(versionedSchema: $0) }.filter { !holds($0.version) }
    new.versions.sort { $0.version < $1.version }
    try new.check(plan)
    self = new
  }

  private func check(_ plan: any SchemaMigrationPlan.Type) throws {
    let problems = problems(of: plan)
    guard !problems.isEmpty else { return }
    throw SwiftDataError(.unknownSchema, problems.joined(separator: " "))
  }

  // MARK: Files

  /// Throws unless every version that a lock has is in a plan as it was shipped; for a test, or a step of CI.
  ///
  /// - Throws: `SwiftDataError` `.unknownSchema` with each ``problems(of:)``, or an error of reading the file.
  public static func check(
    _ plan: any SchemaMigrationPlan.Type, against url: URL
  ) throws {
    try SchemaLock(contentsOf: url).check(plan)
  }

  /// Adds a plan's new versions to a lock, which is made where it is missing.
  ///
  /// - Throws: As ``check(_:against:)``; the file is then as it was.
  public static func record(_ plan: any SchemaMigrationPlan.Type, in url: URL) throws {
    let exists = FileManager.default.fileExists(atPath: url.path)
    var lock = exists ? try SchemaLock(contentsOf: url) : SchemaLock()
    try lock.record(plan)
    try lock.write(to: url)
  }
}
