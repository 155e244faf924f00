import Foundation
import SteadDefault
import SteadPreferences
import Synchronization
import Testing

/// Groups of settings stored as one value, as the library Default has them.
@Suite(.serialized)
struct DefaultStorableTests {
  struct VisualSettings: Codable, DefaultStorable, Equatable {
    static let store = Preferences.inMemory("visual")
    static var defaults: Preferences { store }
    let themeName: String
    let backgroundImageURL: URL?
  }

  struct Volume: DefaultStorable, Equatable {
    static let store = Preferences.inMemory("volume")
    static var defaults: Preferences { store }
    static var defaultIdentifier: String { "sound" }
    static var defaultValue: Volume? { Volume(level: 0.5) }
    var level: Double
  }

  struct Plain: DefaultStorable {}

  let settings = VisualSettings(
    themeName: "bright", backgroundImageURL: URL(string: "https://example.com/a.png"))

  init() throws {
    try VisualSettings.store.removeAll()
    try Volume.store.removeAll()
  }

  @Test func `reads what was written`() {
    #expect(VisualSettings.read() == nil)
    settings.write()
    #expect(VisualSettings.read() == settings)
    #expect(VisualSettings.store.keys == ["VisualSettings"])
    settings.write(withKey: "other")
    #expect(VisualSettings.read(forKey: "other") == settings)
    settings.clear()
    #expect(VisualSettings.read() == nil)
    VisualSettings.clear(forKey: "other")
    #expect(VisualSettings.store.keys.isEmpty)
  }

  @Test func `uses the type's name`() {
    #expect(Plain.defaultIdentifier == "Plain")
    #expect(Plain.defaultValue == nil)
  }

  @Test func `takes a type's own key and default`() throws {
    #expect(Volume.read() == Volume(level: 0.5))
    #expect(try Volume.load() == Volume(level: 0.5))
    try Volume(level: 1).save()
    #expect(Volume.read() == Volume(level: 1))
    #expect(Volume.store.keys == ["sound"])
  }

  /// The library stored JSON under the name of the type's type.
  @Test func `finds what the library wrote`() throws {
    let key = "VisualSettings.Type"
    VisualSettings.store.set(try JSONEncoder().encode(settings), forKey: key)
    #expect(VisualSettings.read() == settings)
    #expect(VisualSettings.store.keys == [key])
    VisualSettings(themeName: "new", backgroundImageURL: nil).write()
    #expect(VisualSettings.read()?.themeName == "new")
    // An older value must not come back.
    VisualSettings.clear()
    #expect(VisualSettings.read() == nil)
  }

  @Test func `a key of its own has no older name`() throws {
    Volume.store.set(try JSONEncoder().encode(Volume(level: 0.1)), forKey: "Volume.Type")
    #expect(Volume.read() == Volume(level: 0.5))
  }

  @Test func `stores what the library reads`() throws {
    settings.write()
    let json = try #require(VisualSettings.store.data(forKey: "VisualSettings"))
    #expect(try JSONDecoder().decode(VisualSettings.self, from: json) == settings)
  }

  @Test func `never loses what does not decode`() throws {
    let log = ReportedCodes(Volume.store)
    let damaged = Data("{\"level\": ".utf8)
    Volume.store.set(damaged, forKey: "sound")
    #expect(Volume.read() == Volume(level: 0.5))
    #expect(log.codes == [.doesNotDecode])
    #expect { try Volume.load() } throws: {
      ($0 as? PreferencesError)?.code == .doesNotDecode
    }
    #expect(Volume.store.data(forKey: "sound") == damaged)
    Volume(level: 1).write()
    #expect(Volume.read() == Volume(level: 1))
    #expect(Volume.store.data(forKey: "sound.undecodable") == damaged)
    #expect(log.codes == [.doesNotDecode, .doesNotDecode])
  }

  // MARK: df

  struct VolumeSetting: Codable, Equatable {
    var sourceName: String
    var value: Double
  }

  let preferences = Preferences.inMemory()
  let setting = VolumeSetting(sourceName: "Amp", value: 0.4)

  @Test func `stores and fetches`() throws {
    let key = String(describing: VolumeSetting.self)
    #expect(preferences.df.fetch(forKey: key, type: VolumeSetting.self) == nil)
    #expect(try preferences.df.decode(VolumeSetting.self, forKey: key) == nil)
    preferences.df.store(setting, forKey: key)
    #expect(preferences.df.fetch(forKey: key, type: VolumeSetting.self) == setting)
    #expect(preferences.data(forKey: key) != nil)
  }

  @Test func `takes coders of one's own`() throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    preferences.df.store([date], forKey: "dates", encoder: encoder)
    let json = try #require(preferences.data(forKey: "dates"))
    #expect(String(decoding: json, as: UTF8.self).contains("2023-11-14T22:13:20Z"))
    #expect(preferences.df.fetch(forKey: "dates", type: [Date].self, decoder: decoder) == [date])
  }

  /// Each value was kept aside for the next one, since a plain decoder did not read it, until none could be stored.
  @Test(arguments: [false, true])
  func `what an encoder of one's own has written isn't kept aside`(isCustom: Bool) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy =
      isCustom
      ? .custom { date, encoder in
        var container = encoder.singleValueContainer()
        try container.encode("day \(Int(date.timeIntervalSince1970) / 86_400)")
      } : .iso8601
    for day in 0..<20 {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400)
      try preferences.df.encode([date], forKey: "dates", encoder: encoder)
    }
    #expect(preferences.undecodableKeys(for: "dates").isEmpty)
    preferences.set(Data("no JSON".utf8), forKey: "dates")
    try preferences.df.encode([Date.distantPast], forKey: "dates", encoder: encoder)
    #expect(preferences.undecodableKeys(for: "dates").count == 1)
  }

  @Test func `shares keys with typed ones`() {
    let key = Preferences.Key<VolumeSetting?>("volume")
    preferences.df.store(setting, forKey: "volume")
    #expect(preferences[key] == setting)
    preferences[key] = VolumeSetting(sourceName: "Radio", value: 1)
    #expect(preferences.dictionary(forKey: "volume")?["sourceName"] as? String == "Radio")
    #expect(preferences.df.fetch(forKey: "volume", type: VolumeSetting.self)?.value == 1)
    #expect(preferences.undecodableKeys(for: "volume").isEmpty)
  }

  @Test func `keeps aside what is no such value`() {
    preferences.set("text", forKey: "volume")
    let log = ReportedCodes(preferences)
    #expect(preferences.df.fetch(forKey: "volume", type: VolumeSetting.self) == nil)
    preferences.df.store(setting, forKey: "volume")
    #expect(preferences.df.fetch(forKey: "volume", type: VolumeSetting.self) == setting)
    #expect(preferences.string(forKey: "volume.undecodable") == "text")
    #expect(log.codes == [.doesNotDecode, .doesNotDecode])
  }

  @Test func `refuses what JSON cannot hold`() {
    let log = ReportedCodes(preferences)
    preferences.df.store(Double.nan, forKey: "number")
    #expect(log.codes == [.notAPropertyList])
    #expect(preferences.propertyList(forKey: "number") == nil)
  }
}

/// The codes of the errors that preferences have reported.
private final class ReportedCodes: Sendable {
  private let reported = Mutex<[PreferencesError.Code]>([])

  init(_ preferences: Preferences) {
    preferences.onError = { [weak self] error in self?.reported.withLock { $0.append(error.code) } }
  }

  var codes: [PreferencesError.Code] { reported.withLock { $0 } }
}
