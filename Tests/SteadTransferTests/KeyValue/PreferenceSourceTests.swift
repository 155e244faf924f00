import Foundation
import SteadPreferences
import Testing

@testable import SteadTransfer

/// What apps keep under one key, as items.
struct PreferenceSourceTests {
  private enum Theme: String, Codable { case light, dark }
  private struct Visit: Codable, Equatable, Sendable {
    var place: String
    var date: Date
  }

  private let moving: Moving

  init() throws { moving = try Moving() }

  private let moment = Date(timeIntervalSinceReferenceDate: 700_000_000)

  // MARK: JSON in data

  @Test(arguments: [true, false])
  func `elements of JSON are items with either dates`(isText: Bool) throws {
    let encoder = JSONEncoder()
    if isText { encoder.dateEncodingStrategy = .iso8601 }
    let visits = [Visit(place: "Rome", date: moment), Visit(place: "Oslo, \"N\"", date: moment)]
    moving.source.set(try encoder.encode(visits), forKey: "visits")
    let items = try PreferenceSource<Visit>("visits", in: moving.source).read { _ in }
    #expect(items.map(\.name) == ["visits[0]", "visits[1]"])
    #expect(try items.map { try $0.value.get() } == visits)
  }

  @Test func `elements that stay keep their bytes`() throws {
    let stay = #"{"place":"?", "date" : "yesterday" ,"x":1.00}"#
    let json =
      #" [ {"place":"Rome","date":1} ,"# + stay
      + #", {"place":"Oslo","date":"2001-01-01T00:00:01.5Z"}]"#
    moving.source.set(Data(json.utf8), forKey: "visits")
    let report = try transfer("visits", acceptsPartial: true).run()
    #expect((report.moved, report.left) == (2, 1))
    #expect(report.failures.map(\.item) == ["visits[1]"])
    #expect(!"\(report.failures)".contains("yesterday"))
    #expect(moving.source.data(forKey: "visits") == Data("[\(stay)]".utf8))
    let oslo = try #require(moving.destination.propertyList(forKey: "visit.Oslo"))
    #expect(
      try PreferenceEntry(key: "", value: oslo).decoded()
        == Visit(place: "Oslo", date: Date(timeIntervalSinceReferenceDate: 1.5)))
  }

  /// What `@AppStorage` keeps where an array is made `RawRepresentable` by its JSON.
  @Test func `elements of JSON in text are items`() throws {
    moving.source.set(#"["Rome", "Oslo, \"N\"", 7]"#, forKey: "places")
    let items = try PreferenceSource<String>("places", in: moving.source).read { _ in }
    #expect(items.map { try? $0.value.get() } == ["Rome", "Oslo, \"N\"", nil])
    let entries = items.prefix(2).map { item in
      TransferReceipt.Entry(
        identity: item.identity, placement: TransferPlacement(location: "", digest: ""))
    }
    #expect(try PreferenceSource<String>("places", in: moving.source).remove(entries) == 2)
    #expect(moving.source.string(forKey: "places") == "[7]")
  }

  @Test(arguments: ["[Rome", "Rome, [Oslo]", "[1,]", ""])
  func `a text that is no array is one item`(text: String) throws {
    moving.source.set(text, forKey: "place")
    let items = try PreferenceSource<String>("place", in: moving.source).read { _ in }
    #expect(try items.map { try $0.value.get() } == [text])
  }

  @Test(arguments: ["[", "[{\"place\":", "[1,]", "no JSON", ""])
  func `data that is no JSON is left alone`(text: String) throws {
    moving.source.set(Data(text.utf8), forKey: "visits")
    let error = try #require(throws: TransferError.self) {
      try transfer("visits", acceptsPartial: true).run()
    }
    #expect(error.code == .unreadable)
    #expect(moving.source.data(forKey: "visits") == Data(text.utf8))
    #expect(moving.destination.keys.isEmpty)
  }

  @Test func `a value in JSON is one item`() throws {
    moving.source.set(Data(#"{"place":"Rome","date":1}"#.utf8), forKey: "visits")
    #expect(try transfer("visits").run().moved == 1)
    #expect(moving.source.object(forKey: "visits") == nil)
    #expect(moving.destination.propertyList(forKey: "visit.Rome") != nil)
  }

  @Test func `an empty array has no items`() throws {
    moving.source.set(Data("[]".utf8), forKey: "visits")
    #expect(try transfer("visits").run().read == 0)
    #expect(moving.source.data(forKey: "visits") == Data("[]".utf8))
  }

  // MARK: Property lists

  @Test func `Codable elements are items`() throws {
    let visits = [Visit(place: "Rome", date: moment), Visit(place: "Oslo", date: moment)]
    let stored = try visits.map { try PreferenceEntry(key: "", encoding: $0).value }
    try moving.source.setPropertyList(.array(stored), forKey: "visits")
    #expect(try transfer("visits").run().moved == 2)
    #expect(
      moving.destination.keys.filter { $0.hasPrefix("visit.") } == ["visit.Oslo", "visit.Rome"])
  }

  @Test func `values of many types are items`() throws {
    moving.source.set(["dark", "light", "blue"], forKey: "themes")
    let themes = try PreferenceSource<Theme>("themes", in: moving.source).read { _ in }
    #expect(themes.map { try? $0.value.get() } == [.dark, .light, nil])

    moving.source.set([Data([1]), Data("[1]".utf8)], forKey: "blobs")
    let blobs = try PreferenceSource<Data>("blobs", in: moving.source).read { _ in }
    #expect(try blobs.map { try $0.value.get() } == [Data([1]), Data("[1]".utf8)])
    moving.source.set(Data("[1]".utf8), forKey: "blob")
    let blob = try PreferenceSource<Data>("blob", in: moving.source).read { _ in }
    #expect(try blob.map { try $0.value.get() } == [Data("[1]".utf8)])

    let address = try #require(URL(string: "https://example.org/a"))
    moving.source.set(address, forKey: "home")
    let home = try PreferenceSource<URL>("home", in: moving.source).read { _ in }
    #expect(try home.map { try $0.value.get() } == [address])

    // Texts that mean something inside of a tree mean themselves in an array of texts.
    moving.source.set(["$null", "$$null"], forKey: "texts")
    let texts = try PreferenceSource<String>("texts", in: moving.source).read { _ in }
    #expect(try texts.map { try $0.value.get() } == ["$null", "$$null"])
  }

  private func transfer(
    _ key: String, acceptsPartial: Bool = false
  ) -> Transfer<Visit, PreferenceEntry> {
    Transfer(
      "visits", from: .preference(key, of: Visit.self, in: moving.source),
      to: .preferences(moving.destination),
      options: .init(acceptsPartial: acceptsPartial)
    ) { try PreferenceEntry(key: "visit.\($0.place)", encoding: $0) }
  }
}
