import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// A store with rows of every kind that its upkeep knows.
struct UpkeepStore {
  let store: TestStore
  static let picture = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  init(_ place: StorePlace = .file) throws {
    store = try TestStore(
      place, Club.self, Member.self, Skill.self, Headline.self, Vehicle.self, Car.self, Truck.self,
      Driver.self)
    let context = store.context()
    let club = Club(name: "Chess")
    club.members = (0..<3).map { Member(name: "Member \($0)") }
    let skill = Skill(title: "openings")
    club.members[0].skills = [skill]
    club.members[1].skills = [skill]
    let headline = Headline(title: "zugzwang", body: "words")
    headline.picture = Self.picture
    let driver = Driver(name: "Dora")
    driver.garage = [Truck(name: "big", load: 1), Car(name: "mini", doors: 3)]
    context.insertAll(club, headline, driver)
    try context.save()
  }

  var container: ModelContainer { store.container }
  var files: URL { store.directory.file(".test.store_external") }

  /// Runs SQL as another program would.
  func sql(_ sql: String) throws {
    try StoreFile(ModelConfiguration(url: store.url)).open(writable: true).execute(sql)
  }

  /// Every byte of every file in the store's directory.
  func bytes() throws -> Data {
    let names = try FileManager.default.subpathsOfDirectory(atPath: store.directory.path)
    return names.reduce(into: Data()) {
      if let data = try? Data(contentsOf: store.directory.appending(path: $1)) { $0 += data }
    }
  }
}
