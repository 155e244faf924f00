import Foundation
import SwiftData
import Synchronization
import WorkerModels

/// The plan of the parcels, which throws at one place.
enum FailingParcelPlan: SchemaMigrationPlan {
  enum Place: CaseIterable { case willMigrate, didMigrate, changing }
  struct Stop: Error {}
  static let place = Mutex(Place.willMigrate)

  static var schemas: [any VersionedSchema.Type] { ParcelPlan.schemas }
  static var stages: [MigrationStage] {
    guard case .custom(let from, let to, let willMigrate, let didMigrate) = ParcelPlan.stages[0]
    else { return [] }
    return [
      .custom(
        fromVersion: from, toVersion: to,
        willMigrate: { context in
          // The codes that come twice stay, so that they cannot be unique.
          if place.withLock({ $0 }) != .changing { try willMigrate?(context) }
          if place.withLock({ $0 }) == .willMigrate { throw Stop() }
        },
        didMigrate: { context in
          try didMigrate?(context)
          try context.delete(model: ParcelsV2.Parcel.self)
          throw Stop()
        })
    ]
  }
}

/// Parcels without a weight and a sender.
enum LooseParcel: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Parcel.self] }

  @Model final class Parcel {
    var code: String
    @Attribute(.externalStorage) var label: Data?

    init(code: String) { self.code = code }
  }
}

/// The same with a note, which might have been meant to have the weight or the sender.
enum NotedParcel: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Parcel.self] }

  @Model final class Parcel {
    var code: String
    var note: String?
    @Attribute(.externalStorage) var label: Data?

    init(code: String) { self.code = code }
  }
}

/// Removes the weights and senders, and nothing else.
enum PlainPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [ParcelsV1.self, LooseParcel.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: ParcelsV1.self, toVersion: LooseParcel.self, willMigrate: nil,
        didMigrate: { context in
          for parcel in try context.fetch(FetchDescriptor<LooseParcel.Parcel>()) {
            parcel.code += "!"
          }
        })
    ]
  }
}

/// Drops the weights without a look.
enum CarelessPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [ParcelsV1.self, NotedParcel.self] }
  static var stages: [MigrationStage] { [stage] }
  static var stage: MigrationStage {
    .custom(
      fromVersion: ParcelsV1.self, toVersion: NotedParcel.self, willMigrate: nil,
      didMigrate: { context in
        for parcel in try context.fetch(FetchDescriptor<NotedParcel.Parcel>()) {
          parcel.code += "!"
        }
      })
  }
}

enum DiscardingPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { CarelessPlan.schemas }
  static var stages: [MigrationStage] { [CarelessPlan.stage] }
  static var discardedData: Set<String> { ["Parcel.grams", "Parcel.sender"] }
}

/// Parcels with a stamp that has no default value.
enum StampedParcel: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Parcel.self] }

  @Model final class Parcel {
    var code: String
    var grams: Int
    var sender: String
    @Attribute(.externalStorage) var label: Data?
    var stamp: String

    init(code: String, stamp: String) {
      self.code = code
      self.grams = 0
      self.sender = ""
      self.stamp = stamp
    }
  }
}

enum ForgetfulPlan: SchemaMigrationPlan {
  static let sets = Mutex(false)
  static var schemas: [any VersionedSchema.Type] { [ParcelsV1.self, StampedParcel.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: ParcelsV1.self, toVersion: StampedParcel.self, willMigrate: nil,
        didMigrate: { context in
          for parcel in try context.fetch(FetchDescriptor<StampedParcel.Parcel>()) {
            parcel.code += "?"
            if sets.withLock({ $0 }) { parcel.stamp = "stamped" }
          }
        })
    ]
  }
}

/// Parcels whose required properties are of types that are not read from NULL.
enum TypedParcel: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Parcel.self] }

  struct Weight: Codable, Hashable {
    let grams: Int
    let unit: String
  }
  enum Size: String, Codable { case small, large }

  @Model final class Parcel {
    var code: String
    /// Was a number, and became a value with parts under its name.
    var grams: Weight
    var sender: String
    var size: Size
    var days: [Date]
    @Attribute(.externalStorage) var label: Data

    init(code: String, grams: Weight, size: Size) {
      self.code = code
      self.grams = grams
      self.size = size
      sender = ""
      days = []
      label = Data()
    }
  }
}

enum TypedParcelPlan: SchemaMigrationPlan {
  /// Whether `didMigrate` sets the sizes.
  static let setsSizes = Mutex(true)
  static var schemas: [any VersionedSchema.Type] { [ParcelsV1.self, TypedParcel.self] }
  static var stages: [MigrationStage] {
    var grams: [PersistentIdentifier: Int] = [:]
    return [
      .custom(
        fromVersion: ParcelsV1.self, toVersion: TypedParcel.self,
        willMigrate: { context in
          for parcel in try context.fetch(FetchDescriptor<ParcelsV1.Parcel>()) {
            grams[parcel.persistentModelID] = parcel.grams
          }
        },
        didMigrate: { context in
          for parcel in try context.fetch(FetchDescriptor<TypedParcel.Parcel>()) {
            let number = grams[parcel.persistentModelID] ?? 0
            parcel.grams = TypedParcel.Weight(grams: number, unit: "g")
            parcel.days = [Date(timeIntervalSinceReferenceDate: Double(number))]
            parcel.label = Data([UInt8(number)])
            if setsSizes.withLock({ $0 }) { parcel.size = number < 10 ? .small : .large }
          }
        })
    ]
  }
}
