import Foundation
import SteadSecrets
import Testing

/// What every store tells of its items.
@Suite struct ItemConformance {
  @Test(arguments: TestedStore.all)
  func `keeps labels and attributes until they are replaced`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets("service")
    try secrets.set("1", for: "a")
    #expect(try secrets.item(for: "a")?.label == "service: a")
    #expect(try secrets.item(for: "a")?.attributes == [:])

    let attributes = ["url": "https://example.org/?a=b&c", "empty": "", "größe": "1\nund\t✓"]
    try secrets.set("2", for: "a", label: "Anna’s “mail”\n2", attributes: attributes)
    #expect(try secrets.item(for: "a")?.label == "Anna’s “mail”\n2")
    #expect(try secrets.item(for: "a")?.attributes == attributes)

    // What is not given stays.
    try secrets.set("3", for: "a")
    try secrets.update("4", for: "a")
    try secrets.replace("4", with: "5", for: "a")
    #expect(try secrets.item(for: "a")?.label == "Anna’s “mail”\n2")
    #expect(try secrets.item(for: "a")?.attributes == attributes)

    try secrets.set("6", for: "a", label: "other")
    #expect(try secrets.item(for: "a")?.attributes == attributes)
    try secrets.set("7", for: "a", attributes: ["only": "one"])
    #expect(try secrets.item(for: "a")?.label == "other")
    #expect(try secrets.item(for: "a")?.attributes == ["only": "one"])
    try secrets.set("8", for: "a", attributes: [:])
    #expect(try secrets.item(for: "a")?.attributes == [:])
    #expect(try secrets.string(for: "a") == "8")
    #expect(try secrets.items().count == 1)
  }

  /// As libsecret searches: for items that have all of the attributes, of every service in the store.
  @Test(arguments: TestedStore.all)
  func `finds items by their attributes`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    try secrets.set("1", for: "b", attributes: ["server": "mx", "port": "25"])
    try secrets.set("2", for: "a", attributes: ["server": "mx", "é": ""])
    try secrets.set("3", for: "c", attributes: ["port": "25"])
    func found(_ attributes: [String: String]) throws -> [String] {
      try secrets.items(matching: attributes).map(\.account)
    }
    #expect(try found([:]) == ["a", "b", "c"])
    #expect(try found(["server": "mx"]) == ["a", "b"])
    #expect(try found(["server": "mx", "port": "25"]) == ["b"])
    #expect(try found(["server": "mx", "port": "26"]) == [])
    #expect(try found(["é": ""]) == ["a"])
    #expect(try found(["account": "c"]) == ["c"])
    // The service is that of the secrets, whatever is asked for.
    #expect(try found(["service": "another"]) == ["a", "b", "c"])
    #expect(try secrets.store.items(matching: ["port": "25"]).map(\.account) == ["b", "c"])
    #expect(try secrets.items(matching: ["port": "25"]).first?.attributes["server"] == "mx")
  }

  @Test(arguments: TestedStore.named)
  func `lists its services`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let store = try place.open()
    #expect(try store.services() == [])
    // One name as a single character and with a combining accent, which `String` calls equal.
    let names = ["b", "a", "e\u{301}", "\u{E9}"]
    for name in names { try place.secrets(name).set("1", for: "x", attributes: ["k": "v"]) }
    try place.secrets("a").set("2", for: "y", attributes: ["k": "v"])
    let sorted = names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(try store.services().map { Array($0.utf8) } == sorted)
    let found = try store.items(matching: ["k": "v"])
    #expect(found.map(\.service).map { Array($0.utf8) } == [sorted[0]] + sorted)
    #expect(found.prefix(2).map(\.account) == ["x", "y"])
    try place.secrets("b").remove("x")
    #expect(try store.services().count == 3)
  }

  @Test(arguments: TestedStore.all)
  func `tells when an item was made and changed`(_ tested: TestedStore) throws {
    guard let resolution = tested.timeResolution else { return }
    let place = try tested.place()
    let secrets = try place.secrets()
    let beginning = Date()
    try secrets.set("1", for: "a")
    let made = Date()
    let first = try #require(try secrets.item(for: "a"))
    try secrets.set("2", for: "a")
    let changed = Date()
    let second = try #require(try secrets.item(for: "a"))

    func isWithin(_ date: Date?, _ start: Date, _ end: Date) -> Bool {
      guard let date else { return false }
      return date > start.addingTimeInterval(-resolution)
        && date < end.addingTimeInterval(resolution)
    }
    #expect(isWithin(first.modified, beginning, made))
    #expect(isWithin(second.modified, made, changed))
    if tested.tellsCreation {
      #expect(isWithin(first.created, beginning, made))
      #expect(second.created == first.created)
    }
  }

  @Test(arguments: TestedStore.all)
  func `lists accounts in the order of their bytes`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    // In UTF-16 the last two would change places, and by `String` the e with its accent would be last
    // but two.
    let accounts = ["B", "a", "aa", "b", "e\u{301}", "z", "ä", "\u{FFFD}", "\u{10000}"]
    for account in accounts.reversed() { try secrets.set("x", for: account) }
    #expect(try secrets.accounts() == accounts)
    #expect(try secrets.items().map(\.account) == accounts)
  }

  @Test(arguments: TestedStore.all)
  func `refuses texts that no store can keep`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    let long = String(repeating: "a", count: SecretStoreWrite.textLimit)
    let many = Dictionary(
      uniqueKeysWithValues: (0...SecretStoreWrite.attributeLimit).map { ("\($0)", "") })
    let refused: [(String?, [String: String]?)] = [
      ("a\0b", nil), (long + "a", nil), (nil, ["a": "b\0"]), (nil, ["a": long + "a"]),
      (nil, ["": "a"]), (nil, ["a\0": "a"]), (nil, many),
      (nil, [String(repeating: "a", count: SecretID.nameLimit + 1): "a"]),
      (nil, ["service": "a"]), (nil, ["account": "a"]), (nil, ["xdg:schema": "a"]),
    ]
    for (label, attributes) in refused {
      let error = #expect(throws: SecretError.self) {
        try secrets.set("x", for: "a", label: label, attributes: attributes)
      }
      #expect(error?.code == .invalidName)
    }
    for account in ["", "a\0", String(repeating: "a", count: SecretID.nameLimit + 1)] {
      let error = #expect(throws: SecretError.self) { try secrets.set("x", for: account) }
      #expect(error?.code == .invalidName)
      #expect(throws: SecretError.self) { try secrets.string(for: account) }
      #expect(throws: SecretError.self) { try place.secrets(account) }
    }
    #expect(try secrets.items().isEmpty)
    try secrets.set("x", for: "a", label: long, attributes: ["a": long])
    #expect(try secrets.item(for: "a")?.label == long)
    #expect(try secrets.item(for: "a")?.attributes == ["a": long])
  }

  @Test(arguments: TestedStore.all)
  func `refuses requirements that it lacks`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    try secrets.set("first", for: "there")
    let requirements: [(SecretStoreFeature, SecretRequirements)] =
      SecretRequirements.Accessibility.allCases.map {
        (.accessibility, SecretRequirements(accessibility: $0))
      } + [
        (.accessGroups, SecretRequirements(accessGroup: "group")),
        (.synchronization, SecretRequirements(isSynchronizable: true)),
      ]
    for (feature, required) in requirements
    where !secrets.store.features.contains(feature) {
      for account in ["there", "new"] {
        let error = #expect(throws: SecretError.self) {
          try secrets.set("second", for: account, requirements: required)
        }
        #expect(error?.feature == feature)
        // The store itself refuses it, not only `Secrets`.
        let id = try SecretID(service: secrets.service, account: account)
        let direct = #expect(throws: SecretError.self) {
          try secrets.store.write(
            SecretBytes("second"), for: id, SecretStoreWrite(requirements: required))
        }
        #expect(direct?.feature == feature)
      }
    }
    #expect(try secrets.accounts() == ["there"])
    #expect(try secrets.string(for: "there") == "first")
  }
}
