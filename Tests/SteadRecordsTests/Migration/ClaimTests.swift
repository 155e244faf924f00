import Foundation
import SteadTestSupport
import SwiftData
import Synchronization
import Testing

@testable import SteadRecords

private enum Plain: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Box.self] }

  @Model final class Item {
    @Attribute(originalName: "memo") var remark: String?
    var note: String?
    init() {}
  }
  @Model final class Box {
    var size = 1
    init() {}
  }
}

/// A swap, of whose names one has kept its original name from the version before.
private enum SwapOfKept: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Box.self] }

  @Model final class Item {
    @Attribute(originalName: "memo") var remark: String?
    @Attribute(originalName: "remark") var note: String?
    init() {}
  }
  @Model final class Box {
    var size = 1
    init() {}
  }
}

private enum TwoProperties: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Box.self] }

  @Model final class Item {
    @Attribute(originalName: "note") var first: String?
    @Attribute(originalName: "note") var second: String?
    init() {}
  }
  @Model final class Box {
    var size = 1
    init() {}
  }
}

private enum TwoModels: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Crate.self, Chest.self] }

  @Model final class Item {
    var remark: String?
    init() {}
  }
  @Model final class Crate: RenamedModel {
    static let originalName = "Box"
    var size = 1
    init() {}
  }
  @Model final class Chest: RenamedModel {
    static let originalName = "Box"
    var size = 1
    init() {}
  }
}

/// The stage of the plan, and how often its closure has run.
private let stage = Mutex(
  MigrationStage.lightweight(fromVersion: Plain.self, toVersion: Plain.self))
private let runCount = Mutex(0)

private enum ClaimPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Plain.self, stage.withLock { $0.to }] }
  static var stages: [MigrationStage] { [stage.withLock(\.self)] }
}

/// A custom stage to a version with two claims on one property was first refused for values that it drops. Whoever read or
/// discarded them learned only then that the version itself can't be.
@Suite(.serialized) struct ClaimTests {
  private enum Target: CaseIterable {
    case swapOfKept, twoProperties, twoModels

    var version: any VersionedSchema.Type {
      switch self {
      case .swapOfKept: SwapOfKept.self
      case .twoProperties: TwoProperties.self
      case .twoModels: TwoModels.self
      }
    }

    var sentence: String {
      switch self {
      case .swapOfKept: "both claim the property remark"
      case .twoProperties: "both claim the property note"
      case .twoModels: "both claim the model Box"
      }
    }
  }

  @Test(arguments: [[], ["Item.remark", "Item.note", "Box"]] as [Set<String>], [false, true])
  func `two claims on one name are refused before a custom stage runs, or its losses are told`(
    discarded: Set<String>, isDryRun: Bool
  ) throws {
    for target in Target.allCases {
      let directory = try TemporaryDirectory()
      var configuration = ModelConfiguration(url: directory.file("items.store"))
      let context = ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: Plain.self), configurations: configuration))
      let item = Plain.Item()
      (item.remark, item.note) = ("one", "two")
      context.insert(item)
      context.insert(Plain.Box())
      try context.save()
      configuration.discardedData = discarded
      runCount.withLock { $0 = 0 }
      stage.withLock {
        $0 = .custom(
          fromVersion: Plain.self, toVersion: target.version,
          willMigrate: { _ in runCount.withLock { $0 += 1 } }, didMigrate: nil)
      }
      let schema = Schema(versionedSchema: target.version)
      let error = try #require(throws: SwiftDataError.self, "\(target)") {
        if isDryRun {
          _ = try ModelContainer.dryRun(
            for: schema, migrationPlan: ClaimPlan.self, configurations: [configuration])
        } else {
          _ = try ModelContainer(
            for: schema, migrationPlan: ClaimPlan.self, configurations: configuration)
        }
      }
      #expect(error.message.ranges(of: target.sentence).count == 1, "\(error)")
      #expect(!error.message.contains("drops data"), "\(error)")
      #expect(runCount.withLock(\.self) == 0, "\(target)")
      let kept = ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: Plain.self), configurations: configuration))
      #expect(try kept.fetch(FetchDescriptor<Plain.Item>()).map(\.note) == ["two"])
    }
  }
}
