import Foundation
import SteadTestSupport
import SwiftData
import Synchronization
import Testing

@testable import SteadRecords

private enum Old: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Plant.self] }

  @Model final class Plant {
    var name: String
    var height = 1
    init(_ name: String) { self.name = name }
  }
}

private enum New: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Plant.self] }

  @Model final class Plant {
    var name: String
    var height: Date
    var bed: Int
    init(_ name: String) { (self.name, height, bed) = (name, .distantPast, 1) }
  }
}

/// The stage whose error is looked at.
private let failing = Mutex(MigrationStage.lightweight(fromVersion: Old.self, toVersion: New.self))

private enum StageFailurePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
  static var stages: [MigrationStage] { [failing.withLock(\.self)] }
}

private struct Refusal: Error, CustomStringConvertible {
  var description: String { "The garden is closed." }
}

/// What the errors of stages say.
///
/// They said everything twice, once in the message and once as its cause, that the stage was left as it was, and what
/// Foundation quotes of a value that can't be decoded.
@Suite(.serialized) struct StageErrorTests {
  enum Failure: CaseIterable {
    case isRefused, dropsData, leavesNil, throwsOwn, throwsDecoding

    fileprivate var stage: MigrationStage {
      func custom(
        _ willMigrate: @escaping @Sendable (ModelContext) throws -> Void
      ) -> MigrationStage {
        .custom(
          fromVersion: Old.self, toVersion: New.self, willMigrate: willMigrate, didMigrate: nil)
      }
      return switch self {
      case .isRefused: .lightweight(fromVersion: Old.self, toVersion: New.self)
      case .dropsData: custom { _ in }
      case .leavesNil:
        custom { context in
          for plant in try context.fetch(FetchDescriptor<Old.Plant>()) { _ = plant.height }
        }
      case .throwsOwn: custom { _ in throw Refusal() }
      case .throwsDecoding:
        custom { _ in _ = try JSONDecoder().decode(UUID.self, from: Data("\"secret\"".utf8)) }
      }
    }

    var sentences: [String] {
      switch self {
      case .isRefused:
        ["A stage of the migration plan cannot take the store to version 2.0.0.", "Plant.height"]
      case .dropsData: ["drops data that it has not read", "Plant.height"]
      case .leavesNil: ["leaves objects without a value", "Plant.bed"]
      case .throwsOwn: ["The garden is closed."]
      case .throwsDecoding: ["A value has a form that its type does not read."]
      }
    }
  }

  @Test(arguments: Failure.allCases, [false, true])
  func `the error of a stage says everything once, and no value`(
    failure: Failure, isDryRun: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let configuration = ModelConfiguration(url: directory.file("plants.store"))
    let context = ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: Old.self), configurations: configuration))
    context.insert(Old.Plant("secret"))
    try context.save()
    failing.withLock { $0 = failure.stage }
    let schema = Schema(versionedSchema: New.self)
    let error = try #require(throws: SwiftDataError.self) {
      if isDryRun {
        _ = try ModelContainer.dryRun(
          for: schema, migrationPlan: StageFailurePlan.self, configurations: [configuration])
      } else {
        _ = try ModelContainer(
          for: schema, migrationPlan: StageFailurePlan.self, configurations: configuration)
      }
    }
    #expect(error.cause != nil)
    for text in [error.message, error.description] {
      for sentence in failure.sentences + ["The migration stage from Old to New failed"] {
        #expect(text.ranges(of: sentence).count == 1, "\(sentence): \(text)")
      }
      #expect(text.ranges(of: "left as it was").count == 1, "\(text)")
      #expect(text.ranges(of: "from Old to New").count == 1, "\(text)")
      let codes = text.ranges(of: "loadIssueModelContainer").count
      #expect(codes == (text == error.message ? 0 : 1), "\(text)")
      #expect(!text.contains("secret"), "\(text)")
    }
  }
}
