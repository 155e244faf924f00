import Foundation
import SwiftData

@testable import SteadRecords

@Model final class Voyage {
  @Attribute(.unique) var code: String
  @Attribute(.preserveValueOnDeletion) var name: String
  @Attribute(.preserveValueOnDeletion) var price: Double?
  @Attribute(.preserveValueOnDeletion) var mark: UUID?
  @Attribute(.ephemeral) var views = 0
  var note: String?
  @Relationship(deleteRule: .cascade, inverse: \Harbor.voyage) var harbors: [Harbor] = []

  init(code: String, name: String, price: Double? = nil) {
    self.code = code
    self.name = name
    self.price = price
  }
}

@Model final class Harbor {
  var place: String
  var days: Int
  var voyage: Voyage?
  @Relationship(inverse: \Label.harbors) var labels: [Label] = []

  init(place: String, days: Int = 1) {
    self.place = place
    self.days = days
  }
}

@Model final class Label {
  var title: String
  var harbors: [Harbor] = []

  init(title: String) { self.title = title }
}

@Model final class Parcel {
  var weight: Int

  init(weight: Int) { self.weight = weight }
}

enum BoatV1 {
  @Model final class Boat {
    var name: String?

    init(name: String?) { self.name = name }
  }
}

enum BoatV2 {
  @Model final class Boat {
    var name = "nameless"

    init(name: String) { self.name = name }
  }
}

enum DenV1 {
  @Model class Beast {
    var name: String

    init(name: String) { self.name = name }
  }

  @Model final class Wolf: Beast {
    override init(name: String) { super.init(name: name) }
  }
}

/// A class whose name comes first gives the others new numbers; the columns stay the same.
enum DenV2 {
  @Model class Beast {
    var name: String

    init(name: String) { self.name = name }
  }

  @Model final class Bear: Beast {
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Wolf: Beast {
    override init(name: String) { super.init(name: name) }
  }
}

typealias Transactions = HistoryDescriptor<DefaultHistoryTransaction>

extension TestStore {
  static func voyages(_ place: StorePlace = .file) throws -> TestStore {
    try TestStore(place, Voyage.self, Harbor.self, Label.self)
  }
}

extension DefaultHistoryTransaction {
  /// The changes as strings, in a fixed order: `+Voyage/1`, `~Voyage/1 name,note`, `-Voyage/1 Paris`.
  var summary: [String] {
    changes.map { change in
      let identifier = change.changedPersistentIdentifier
      let object = "\(identifier.entityName)/\(identifier.row)"
      switch change {
      case .insert: return "+\(object)"
      case .update(let update):
        return "~\(object) \(update.names.sorted().joined(separator: ","))"
      case .delete(let deletion):
        let name = (deletion as? DefaultHistoryDelete<Voyage>)?.tombstone[\.name] as? String
        return "-\(object)" + (name.map { " \($0)" } ?? "")
      }
    }.sorted()
  }
}

extension HistoryUpdate {
  /// The names of the changed properties.
  var names: [String] {
    Model.schemaMetadata.filter { property in
      updatedAttributes.contains { $0 as AnyKeyPath == property.keypath }
    }.map(\.name)
  }
}

extension TestStore {
  /// A context of a container that keeps old values.
  func keepingOldValues() throws -> ModelContext {
    var configuration =
      place == .memory
      ? ModelConfiguration(isStoredInMemoryOnly: true) : ModelConfiguration(url: url)
    configuration.history = .withOldValues
    return ModelContext(try ModelContainer(for: schema, configurations: configuration))
  }
}
