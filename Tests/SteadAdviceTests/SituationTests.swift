import Testing

@testable import SteadAdvice

/// What guides for Apple's developers say about where data belongs, each with the store that the guide itself names.
@Suite struct SituationTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let situation: Situation
    let store: Store
    var testDescription: String { name }

    init(_ name: String, _ situation: Situation, _ store: Store) {
      (self.name, self.situation, self.store) = (name, situation, store)
    }
  }

  /// From guides to choosing among UserDefaults, the keychain, SwiftData, Core Data, files and caches.
  static let choosing: [Case] = [
    Case("the theme of the app", .init(kind: .setting, size: 10), .preferences),
    Case("the language", .init(kind: .setting), .preferences),
    Case("whether notifications are on", .init(kind: .setting, exposure: .harmless), .preferences),
    Case("how often the app was started", .init(kind: .setting, count: 1, size: 8), .preferences),
    Case("whether the introduction was shown", .init(kind: .setting, origin: .only), .preferences),
    Case("when it last synced", .init(kind: .setting, access: .whole), .preferences),
    Case("a setting on several devices", .init(kind: .setting, devices: .several), .preferences),
    Case("a password", .init(kind: .secret), .secrets),
    Case("an access token", .init(kind: .secret, size: 900), .secrets),
    Case("the key of a web service", .init(kind: .secret, count: 1, size: 40), .secrets),
    Case(
      "a password that somebody calls a setting", .init(kind: .setting, exposure: .harmful),
      .secrets),
    Case("a token on several devices", .init(kind: .secret, devices: .several), .secrets),
    Case("users", .init(kind: .records, count: 100), .records),
    Case("tasks by priority", .init(kind: .records, access: .parts), .records),
    Case("orders of a shop", .init(kind: .records, count: 100_000, size: 500), .records),
    Case("a million records", .init(kind: .records, count: 1_000_000), .records),
    Case("a new project on iOS 17", .init(kind: .records, ground: .new), .records),
    Case("tasks on iOS 16", .init(kind: .records, ground: .coreData), .coreData),
    Case(
      "a Core Data stack that works", .init(kind: .records, access: .parts, ground: .coreData),
      .coreData),
    Case("records on several devices", .init(kind: .records, devices: .several), .records),
    Case("projects and their tasks", .init(kind: .records, access: .parts, count: 300), .records),
    Case("a PDF that the user made", .init(kind: .document, size: 2 << 20), .file),
    Case("a film", .init(kind: .media, access: .whole, size: 300 << 20), .file),
    Case("a recording of a voice", .init(kind: .media, size: 8 << 20), .file),
    Case("a photograph of a record", .init(kind: .media, access: .parts, size: 4 << 20), .file),
    Case(
      "an avatar of a user", .init(kind: .media, access: .parts, size: 150 << 10), .recordsWithFiles
    ),
    Case("bytes of an image in a model", .init(kind: .records, size: 600 << 10), .recordsWithFiles),
    Case("responses of a server", .init(kind: .response), .httpCache),
    Case("pictures that a list shows", .init(kind: .cache, lifetime: .run), .memoryCache),
    Case("thumbnails for the next start", .init(kind: .cache, lifetime: .launches), .diskCache),
    Case(
      "a result that took long", .init(kind: .cache, origin: .again, lifetime: .launches),
      .diskCache),
    Case(
      "a film that can be loaded again", .init(kind: .media, origin: .again, size: 80 << 20),
      .diskCache),
    Case(
      "an archive while it is unpacked", .init(kind: .cache, lifetime: .run, size: 80 << 20),
      .temporaryFile),
  ]

  /// From a description of a list that is kept as JSON under one key, and of where that ends.
  static let histories: [Case] = [
    Case("generations of a personal app", .init(kind: .payloads), .payloadHistory),
    Case("500 of them", .init(kind: .payloads, count: 500, size: 2_000), .payloadHistory),
    Case("small ones", .init(kind: .payloads, count: 300, size: 9 << 10), .payloadHistory),
    Case("for one user", .init(kind: .payloads, access: .whole, devices: .one), .payloadHistory),
    Case("thousands of them", .init(kind: .payloads, count: 3_000), .records),
    Case("changed one by one", .init(kind: .payloads, access: .parts, count: 200), .records),
    Case("looked up by a field", .init(kind: .payloads, access: .parts), .records),
    Case("on several devices", .init(kind: .payloads, devices: .several), .records),
    Case(
      "with their images", .init(kind: .payloads, count: 100, size: 300 << 10), .recordsWithFiles),
    Case("10 MB under one key", .init(kind: .setting, size: 10 << 20), .file),
    Case("a blob of an image as a setting", .init(kind: .setting, size: 200 << 10), .file),
    Case("the path of that blob", .init(kind: .setting, size: 80), .preferences),
    Case("a history that holds tokens", .init(kind: .payloads, exposure: .harmful), .encryptedFile),
  ]

  /// From the story of drafts that outgrew a list of strings.
  static let drafts: [Case] = [
    Case("a few drafts as strings", .init(kind: .payloads, count: 5, size: 500), .payloadHistory),
    Case("drafts with attachments", .init(kind: .records, access: .parts, count: 5), .records),
    Case(
      "drafts in the order of their dates", .init(kind: .payloads, access: .parts, count: 5),
      .records),
    Case(
      "attachments of drafts", .init(kind: .media, access: .parts, size: 700 << 10),
      .recordsWithFiles),
    Case(
      "drafts on every device", .init(kind: .records, access: .parts, devices: .several), .records),
  ]

  /// From an article about what UserDefaults is for.
  static let defaults: [Case] = [
    Case("a flag of the first launch", .init(kind: .setting, size: 1), .preferences),
    Case("the app's configuration", .init(kind: .setting, count: 40, size: 100), .preferences),
    Case("a date", .init(kind: .setting, size: 8), .preferences),
    Case("a URL", .init(kind: .setting, size: 100), .preferences),
    Case("large chunks of data", .init(kind: .setting, size: 1 << 20), .file),
    Case(
      "values that are read often and written rarely", .init(kind: .setting, access: .whole),
      .preferences),
    Case("an object that may change its shape", .init(kind: .records, count: 50), .records),
    Case(
      "thousands of settings with 4 KB", .init(kind: .setting, count: 5_000, size: 4 << 10),
      .records),
    Case("what an administrator fixes", .init(kind: .managed), .managedPreferences),
  ]

  /// From questions of those who write servers and command lines.
  static let others: [Case] = [
    Case("jobs that wait", .init(kind: .queue), .records),
    Case("a certificate with its chain", .init(kind: .secret, size: 100 << 10), .encryptedFile),
    Case("a diary", .init(kind: .document, exposure: .harmful), .encryptedFile),
    Case(
      "private results while the program runs", .init(kind: .cache, exposure: .harmful),
      .memoryCache),
    // Once a temporary file was advised, in the clear.
    Case(
      "a large private result while the program runs",
      .init(kind: .cache, exposure: .harmful, lifetime: .run, size: 80 << 20), .memoryCache),
  ]

  @Test(arguments: all)
  func `advice names the store`(_ example: Case) {
    let advice = Advisor.advice(for: example.situation)
    #expect(advice.store == example.store)
    #expect(!advice.reasons.isEmpty)
    #expect(!advice.exits.isEmpty)
  }

  static let all = choosing + histories + drafts + defaults + others

  @Test func `there are sixty of them`() {
    let all = Self.all
    #expect(all.count >= 60)
    #expect(Set(all.map(\.name)).count == all.count)
    #expect(Set(all.map(\.store)) == Set(Store.allCases))
  }
}
