import Foundation
import RecordsTestSupport
import SwiftData
import Testing

// Stages that read values in `willMigrate`, keep them somewhere, and set them in `didMigrate`.

private enum FilmV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Film.self, Showing.self] }

  @Model final class Film {
    var title: String
    var isSeen: Bool
    @Relationship(deleteRule: .cascade, inverse: \Showing.film) var showings: [Showing]? = []
    init(title: String, isSeen: Bool) {
      self.title = title
      self.isSeen = isSeen
    }
  }

  @Model final class Showing {
    var date: Date?
    var film: Film?
    init(date: Date) { self.date = date }
  }
}

private enum FilmV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 1, 0)
  static var models: [any PersistentModel.Type] { [Film.self] }

  @Model final class Film {
    var title: String
    var seenOn: Date?
    init(title: String) { self.title = title }
  }
}

private typealias Film = FilmV2.Film

private enum FilmPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [FilmV1.self, FilmV2.self] }
  static var stages: [MigrationStage] { [keepDates] }

  // Only the thread that opens the store calls the closures, and one test alone opens it.
  nonisolated(unsafe) static var seenDates = [PersistentIdentifier: Date]()

  static let keepDates = MigrationStage.custom(
    fromVersion: FilmV1.self, toVersion: FilmV2.self,
    willMigrate: { context in
      let fetch = FetchDescriptor<FilmV1.Film>(predicate: #Predicate { $0.isSeen == true })
      if let films = try? context.fetch(fetch) {
        for film in films {
          let dates = film.showings?.compactMap(\.date)
          guard let last = dates?.max() else { continue }
          FilmPlan.seenDates[film.persistentModelID] = last
        }
        try? context.delete(model: FilmV1.Showing.self)
      }
      try? context.save()
    },
    didMigrate: { context in
      for (identifier, date) in FilmPlan.seenDates {
        if let film = context.model(for: identifier) as? Film { film.seenOn = date }
      }
      try? context.save()
      FilmPlan.seenDates = [:]
    })
}

private enum UptimeV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static let models: [any PersistentModel.Type] = [Uptime.self, Uptime.Sleep.self, Log.self]

  @Model final class Uptime {
    var day: Int
    var start: Double
    @Relationship(deleteRule: .cascade, inverse: \Sleep.uptime) var sleeps: [Sleep] = []
    init(day: Int, start: Double) {
      self.day = day
      self.start = start
    }

    @Model final class Sleep {
      var start: Double
      var uptime: Uptime?
      init(start: Double) { self.start = start }
    }
  }

  /// Both versions have this class.
  @Model final class Log {
    var text: String
    init(text: String) { self.text = text }
  }
}

private enum UptimeV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 3, 0)
  static let models: [any PersistentModel.Type] = [
    UptimeRecord.self, UptimeRecord.SleepRecord.self, UptimeV1.Log.self,
  ]

  @Model final class UptimeRecord {
    var start: Date
    @Relationship(deleteRule: .cascade, inverse: \SleepRecord.uptime) var sleeps: [SleepRecord]
    init(start: Date, sleeps: [SleepRecord]) {
      self.start = start
      self.sleeps = sleeps
    }

    @Model final class SleepRecord {
      var start: Date
      var uptime: UptimeRecord?
      init(start: Date) { self.start = start }
    }
  }
}

private enum UptimePlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [UptimeV1.self, UptimeV2.self]
  static let stages: [MigrationStage] = [convert]

  // Only the thread that opens the store calls the closures, and one test alone opens it.
  nonisolated(unsafe) private static var records: [UptimeV2.UptimeRecord] = []

  static let convert = MigrationStage.custom(
    fromVersion: UptimeV1.self, toVersion: UptimeV2.self,
    willMigrate: { context in
      records = try context.fetch(FetchDescriptor<UptimeV1.Uptime>()).map { old in
        let midnight = Date(timeIntervalSinceReferenceDate: Double(old.day) * 86_400)
        return UptimeV2.UptimeRecord(
          start: midnight + old.start,
          sleeps: old.sleeps.map { .init(start: midnight + $0.start) })
      }
    },
    didMigrate: { context in
      for record in records { context.insert(record) }
      records = []
      try context.save()
    })
}

private enum ListV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [DayList.self] }

  @Model final class DayList {
    var id: UUID
    var done: [String]
    init(id: UUID, done: [String]) {
      self.id = id
      self.done = done
    }
  }
}

private enum ListV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [DayList.self] }

  @Model final class DayList {
    var id: UUID
    var doneJSON: String = "[]"
    init(id: UUID) { self.id = id }
  }
}

private struct DonePayload: Codable {
  let id: UUID
  let done: [String]
}

private enum ListPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [ListV1.self, ListV2.self] }
  static var stages: [MigrationStage] { [throughAFile] }

  static let payloadURL = FileManager.default.temporaryDirectory
    .appendingPathComponent("ListPlan-\(UUID().uuidString).json")

  static let throughAFile = MigrationStage.custom(
    fromVersion: ListV1.self, toVersion: ListV2.self,
    willMigrate: { context in
      let payload = try context.fetch(FetchDescriptor<ListV1.DayList>()).map {
        DonePayload(id: $0.id, done: $0.done)
      }
      try JSONEncoder().encode(payload).write(to: payloadURL, options: .atomic)
    },
    didMigrate: { context in
      guard let data = try? Data(contentsOf: payloadURL),
        let payload = try? JSONDecoder().decode([DonePayload].self, from: data)
      else { return }
      let byID = Dictionary(uniqueKeysWithValues: payload.map { ($0.id, $0) })
      for list in try context.fetch(FetchDescriptor<ListV2.DayList>()) {
        guard let row = byID[list.id] else { continue }
        list.doneJSON = String(decoding: try JSONEncoder().encode(row.done), as: UTF8.self)
      }
      try context.save()
      try? FileManager.default.removeItem(at: payloadURL)
    })
}

private enum SurfV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Session.self, Gear.self] }

  @Model final class Session {
    var rating: Int
    @Relationship(inverse: \Gear.sessions) var gear: [Gear] = []
    init(rating: Int) { self.rating = rating }
  }

  @Model final class Gear {
    var key: String
    var sessions: [Session] = []
    init(key: String) { self.key = key }
  }
}

private enum SurfV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Session.self, Item.self] }

  @Model final class Session {
    var rating: String
    @Relationship(inverse: \Item.sessions) var gear: [Item] = []
    init(rating: String) { self.rating = rating }
  }

  @Model final class Item {
    @Attribute(.unique) var key: String
    var sessions: [Session] = []
    init(key: String) { self.key = key }
  }
}

private enum SurfPlan: SchemaMigrationPlan {
  struct Snapshot { let rating: Int, gear: [String] }

  static var schemas: [any VersionedSchema.Type] { [SurfV1.self, SurfV2.self] }
  static var stages: [MigrationStage] {
    // Made again for each call, as the list is.
    [
      MigrationStage.custom(
        fromVersion: SurfV1.self, toVersion: SurfV2.self,
        willMigrate: { context in
          for session in try context.fetch(FetchDescriptor<SurfV1.Session>()) {
            snapshots[try key(of: session.persistentModelID)] = Snapshot(
              rating: session.rating, gear: session.gear.map(\.key))
          }
        },
        didMigrate: { context in
          for gear in Set(snapshots.values.flatMap(\.gear)) {
            context.insert(SurfV2.Item(key: gear))
          }
          try context.save()
          let items = Dictionary(
            uniqueKeysWithValues: try context.fetch(FetchDescriptor<SurfV2.Item>()).map {
              ($0.key, $0)
            })
          for session in try context.fetch(FetchDescriptor<SurfV2.Session>()) {
            guard let old = snapshots[try key(of: session.persistentModelID)] else { continue }
            session.rating = String(repeating: "*", count: old.rating)
            session.gear = old.gear.compactMap { items[$0] }
          }
          try context.save()
        })
    ]
  }

  // Only the thread that opens the store calls the closures, and one test alone opens it.
  nonisolated(unsafe) private static var snapshots: [Data: Snapshot] = [:]

  private static func key(of identifier: PersistentIdentifier) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return try encoder.encode(identifier)
  }
}

@Suite struct CarryingShapes {
  @Test func `a static dictionary carries values by identifier`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1000)
    let store = try ShapeStore(FilmV1.self) {
      let seen = FilmV1.Film(title: "seen", isSeen: true)
      $0.insert(seen)
      $0.insert(FilmV1.Film(title: "unseen", isSeen: false))
      seen.showings = [FilmV1.Showing(date: date - 5), FilmV1.Showing(date: date)]
    }
    let films = try store.open(FilmV2.self, FilmPlan.self).fetch(
      FetchDescriptor<Film>(sortBy: [SortDescriptor(\.title)]))
    #expect(films.map(\.title) == ["seen", "unseen"] && films.map(\.seenOn) == [date, nil])
  }

  @Test func `a static array carries new objects that no context has`() throws {
    let store = try ShapeStore(UptimeV1.self) {
      let uptime = UptimeV1.Uptime(day: 1, start: 5)
      $0.insert(uptime)
      uptime.sleeps = [.init(start: 10), .init(start: 20)]
      $0.insert(UptimeV1.Log(text: "kept"))
    }
    let context = try store.open(UptimeV2.self, UptimePlan.self)
    let record = try context.only(UptimeV2.UptimeRecord.self)
    #expect(record.start.timeIntervalSinceReferenceDate == 86_405)
    #expect(
      record.sleeps.map(\.start.timeIntervalSinceReferenceDate).sorted() == [86_410, 86_420])
    #expect(try context.only(UptimeV1.Log.self).text == "kept")
  }

  @Test func `a JSON file carries values`() throws {
    let ids = [UUID(), UUID()]
    let store = try ShapeStore(ListV1.self) {
      $0.insert(ListV1.DayList(id: ids[0], done: ["a", "b"]))
      $0.insert(ListV1.DayList(id: ids[1], done: []))
    }
    let lists = try store.open(ListV2.self, ListPlan.self).all(ListV2.DayList.self)
    #expect(lists.first { $0.id == ids[0] }?.doneJSON == #"["a","b"]"#)
    #expect(lists.first { $0.id == ids[1] }?.doneJSON == "[]")
    #expect(!FileManager.default.fileExists(atPath: ListPlan.payloadURL.path))
  }

  @Test func `relationships are rebuilt from encoded identifiers`() throws {
    let store = try ShapeStore(SurfV1.self) {
      let gear = ["board", "fin", "board"].map(SurfV1.Gear.init)
      let sessions = [SurfV1.Session(rating: 2), SurfV1.Session(rating: 5)]
      for model in gear { $0.insert(model) }
      for model in sessions { $0.insert(model) }
      sessions[0].gear = [gear[1], gear[0]]
      sessions[1].gear = [gear[2]]
    }
    let context = try store.open(SurfV2.self, SurfPlan.self)
    let sessions = try context.fetch(
      FetchDescriptor<SurfV2.Session>(sortBy: [SortDescriptor(\.rating)]))
    #expect(sessions.map(\.rating) == ["**", "*****"])
    #expect(sessions.map { $0.gear.map(\.key) } == [["fin", "board"], ["board"]])
    #expect(try context.count(SurfV2.Item.self) == 2)
  }
}
