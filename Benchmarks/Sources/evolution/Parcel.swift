import Foundation
import SwiftData

/// The model before and after its changes.
enum ParcelsV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Parcel.self] }

  @Model final class Parcel {
    var number: Int
    var title: String
    var weight: Double
    var note: String?
    var sent: Date
    var isFragile = false

    init(number: Int, title: String, weight: Double) {
      self.number = number
      self.title = title
      self.weight = weight
      sent = Date(timeIntervalSinceReferenceDate: 0)
    }
  }
}

/// With a property more that has a default.
enum ParcelsV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Parcel.self] }

  @Model final class Parcel {
    var number: Int
    var title: String
    var weight: Double
    var note: String?
    var sent: Date
    var isFragile = false
    var pieces = 1

    init(number: Int, title: String, weight: Double) {
      self.number = number
      self.title = title
      self.weight = weight
      sent = Date(timeIntervalSinceReferenceDate: 0)
    }
  }
}

/// With the weight in whole grams, which a custom stage computes.
enum ParcelsV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Parcel.self] }

  @Model final class Parcel {
    var number: Int
    var title: String
    var weight: Double
    var grams = 0
    var note: String?
    var sent: Date
    var isFragile = false
    var pieces = 1

    init(number: Int, title: String, weight: Double) {
      self.number = number
      self.title = title
      self.weight = weight
      sent = Date(timeIntervalSinceReferenceDate: 0)
    }
  }
}

enum ParcelPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [ParcelsV2.self, ParcelsV3.self] }
  static var stages: [MigrationStage] {
    [
      .custom(fromVersion: ParcelsV2.self, toVersion: ParcelsV3.self, willMigrate: nil) { context in
        var descriptor = FetchDescriptor<ParcelsV3.Parcel>(sortBy: [SortDescriptor(\.number)])
        descriptor.fetchLimit = 5_000
        var done = 0
        while true {
          descriptor.fetchOffset = done
          let parcels = try context.fetch(descriptor)
          if parcels.isEmpty { break }
          for parcel in parcels { parcel.grams = Int(parcel.weight * 1000) }
          try context.save()
          done += parcels.count
        }
      }
    ]
  }
}

typealias Parcel = ParcelsV2.Parcel

/// Stores of parcels.
enum ParcelStore {
  static func open(
    _ version: any VersionedSchema.Type, _ url: URL, history: ModelConfiguration.History = .on
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version),
      configurations: ModelConfiguration(url: url, history: history))
  }

  /// Makes a store with so many rows.
  static func make<T: PersistentModel>(
    _ version: any VersionedSchema.Type, _ url: URL, count: Int, _ parcel: (Int) -> T
  ) throws {
    let container = try open(version, url)
    for start in stride(from: 0, to: count, by: 10_000) {
      let context = ModelContext(container)
      for number in start..<min(count, start + 10_000) { context.insert(parcel(number)) }
      try context.save()
    }
  }
}
