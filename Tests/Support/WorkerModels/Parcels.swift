import Foundation
import Synchronization
public import SwiftData

/// Parcels with a weight in grams, whose codes may come several times.
public enum ParcelsV1: VersionedSchema {
  public static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  public static var models: [any PersistentModel.Type] { [Parcel.self] }

  @Model public final class Parcel {
    public var code: String
    public var grams: Int
    public var sender: String
    @Attribute(.externalStorage) public var label: Data?

    public init(code: String, grams: Int, sender: String) {
      self.code = code
      self.grams = grams
      self.sender = sender
    }
  }
}

/// Parcels of senders, with unique codes and a weight in kilograms.
public enum ParcelsV2: VersionedSchema {
  public static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  public static var models: [any PersistentModel.Type] { [Parcel.self, Sender.self] }

  @Model public final class Parcel {
    @Attribute(.unique) public var code: String
    public var kilograms: Double
    public var sender: Sender?
    @Attribute(.externalStorage) public var label: Data?

    public init(code: String, kilograms: Double) {
      self.code = code
      self.kilograms = kilograms
    }
  }

  @Model public final class Sender {
    @Attribute(.unique) public var name: String
    @Relationship(inverse: \Parcel.sender) public var parcels: [Parcel] = []

    public init(name: String) { self.name = name }
  }
}

/// What parcels of the first version become without a plan: some of their data is dropped.
public enum SlimParcels {
  @Model public final class Parcel {
    public var code: String
    @Attribute(originalName: "grams") public var weight: Int
    public var note = "none"

    public init(code: String, weight: Int) {
      self.code = code
      self.weight = weight
    }
  }

  /// Opens a store of the first version, which follows these models.
  public static func open(_ url: URL) throws -> ModelContainer {
    try ModelContainer(for: Parcel.self, configurations: ModelConfiguration(url: url))
  }
}

/// From the first to the second: codes that come again are removed, grams become kilograms, senders objects.
public enum ParcelPlan: SchemaMigrationPlan {
  private struct Old {
    let grams: Int
    let sender: String
  }
  /// By the file of the store that is migrated: several may be at once.
  private static let old = Mutex<[String: [String: Old]]>([:])

  private static func place(_ context: ModelContext) -> String {
    context.container.configurations.first?.url.path ?? ""
  }

  public static var schemas: [any VersionedSchema.Type] { [ParcelsV1.self, ParcelsV2.self] }
  public static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: ParcelsV1.self, toVersion: ParcelsV2.self,
        willMigrate: { context in
          var kept: [String: Old] = [:]
          let descriptor = FetchDescriptor<ParcelsV1.Parcel>(sortBy: [SortDescriptor(\.grams)])
          for parcel in try context.fetch(descriptor) {
            if kept[parcel.code] == nil {
              kept[parcel.code] = Old(grams: parcel.grams, sender: parcel.sender)
            } else {
              context.delete(parcel)
            }
          }
          try context.save()
          old.withLock { $0[place(context)] = kept }
        },
        didMigrate: { context in
          let kept = old.withLock { $0.removeValue(forKey: place(context)) ?? [:] }
          var senders: [String: ParcelsV2.Sender] = [:]
          for parcel in try context.fetch(FetchDescriptor<ParcelsV2.Parcel>()) {
            guard let old = kept[parcel.code] else { continue }
            parcel.kilograms = Double(old.grams) / 1000
            let sender = senders[old.sender] ?? ParcelsV2.Sender(name: old.sender)
            senders[old.sender] = sender
            parcel.sender = sender
            if parcel.label != nil, old.grams % 2 == 0 {
              parcel.label = Data(repeating: UInt8(truncatingIfNeeded: old.grams), count: 200_000)
            }
          }
          try context.save()
        })
    ]
  }

  /// Makes a store of the first version, in which each code comes twice.
  public static func makeStore(at url: URL, codes: Int, labels: Int) throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: ParcelsV1.self), configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    for number in 0..<(2 * codes) {
      let parcel = ParcelsV1.Parcel(
        code: "c\(number % codes)", grams: number, sender: "s\(number % 7)")
      if number < labels {
        parcel.label = Data(repeating: UInt8(truncatingIfNeeded: number), count: 150_000)
      }
      context.insert(parcel)
    }
    try context.save()
  }

  /// Opens a store with the second version, by way of the plan.
  public static func open(
    _ url: URL, _ report: @escaping MigrationProgress.Report = { _ in }
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: ParcelsV2.self), migrationPlan: ParcelPlan.self,
      configurations: [ModelConfiguration(url: url)], migrationProgress: report)
  }
}
