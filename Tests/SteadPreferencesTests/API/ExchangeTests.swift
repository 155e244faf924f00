import Foundation
import Testing

@testable import SteadPreferences

struct ExchangeTests {
  private static var values: [String: Any] {
    [
      "text": "é🙂\n", "number": -5, "big": UInt64.max, "flag": true, "real": 0.1,
      "date": Date(timeIntervalSinceReferenceDate: 1_000), "data": Data([0, 255]),
      "list": ["a", 1, ["b": false]] as [Any], "empty": [String](),
    ]
  }

  private func filled() -> Preferences {
    let preferences = Preferences.inMemory()
    preferences.setPersistentDomain(Self.values, forName: "memory")
    return preferences
  }

  @Test(arguments: [PropertyList.Format.binary, .xml])
  func `a domain goes out and in`(format: PropertyList.Format) throws {
    let data = try filled().exportDomain(format: format)
    let copy = Preferences.inMemory()
    copy.set("mine", forKey: "other")
    #expect(try copy.importDomain(data) == Self.values.count)
    copy.removeObject(forKey: "other")
    #expect(copy.keys == filled().keys)
    for key in copy.keys {
      #expect(copy.propertyList(forKey: key) == filled().propertyList(forKey: key), "\(key)")
    }
  }

  @Test(arguments: [PropertyList.Format.binary, .xml])
  func `Foundation reads what goes out`(format: PropertyList.Format) throws {
    let data = try filled().exportDomain(format: format)
    var found = PropertyListSerialization.PropertyListFormat.openStep
    let list = try PropertyListSerialization.propertyList(from: data, format: &found)
    #expect(found == (format == .xml ? .xml : .binary))
    #expect(list as? NSDictionary == Self.values as NSDictionary)
  }

  @Test func `keys that are there are kept when asked`() throws {
    let preferences = Preferences.inMemory()
    preferences.set("mine", forKey: "text")
    let data = try filled().exportDomain()
    #expect(try preferences.importDomain(data, keepingExisting: true) == Self.values.count - 1)
    #expect(preferences.string(forKey: "text") == "mine")
    #expect(try preferences.importDomain(data, keepingExisting: true) == 0)
    #expect(try preferences.importDomain(data) == Self.values.count)
    #expect(preferences.string(forKey: "text") == "é🙂\n")
  }

  /// Which keys were missing was asked before the files were locked, so an import replaced what another program had set
  /// in between. This is the part behind that moment: it finds out with the lock, and by what others have written.
  @Test func `an import adds what is missing once it has the lock`() throws {
    let home = try TestHome(inMemory: true)
    // The options of a domain tell its objects apart, so the two share nothing in memory.
    func open(_ format: PropertyList.Format) throws -> Preferences {
      try Preferences(
        domain: "com.example.shared", directory: home.directory.url,
        options: .init(format: format), environment: home.environment())
    }
    let (importer, setter) = (try open(.binary), try open(.xml))
    #expect(importer.string(forKey: "set") == nil)
    setter.set("set", forKey: "set")
    try setter.flush()
    let edits = ["set", "missing"].map { DomainEdit(key: $0, value: .string("imported")) }
    #expect(try importer.search.list.target.add(edits) == 1)
    #expect(importer.string(forKey: "set") == "set")
    #expect(importer.string(forKey: "missing") == "imported")
    #expect(try importer.search.list.target.add(edits) == 0)
  }

  @Test(arguments: ["", "bplist00", "( a, b )", "<plist><array/></plist>", "\u{0}\u{1}"])
  func `what is no dictionary is refused`(text: String) throws {
    let preferences = filled()
    #expect { try preferences.importDomain(Data(text.utf8)) } throws: {
      ($0 as? PreferencesError)?.code == .damaged
    }
    #expect(preferences.keys.count == Self.values.count)
  }

  /// Foundation keeps XML files by the names of the program and its suites, directly in the directory.
  @Test func `Foundation's own files are found`() throws {
    let home = try TestHome()
    let fields: [String: Any] = ["count": 7, "names": ["a", "b"], "on": true]
    let xml = try PropertyListSerialization.data(fromPropertyList: fields, format: .xml, options: 0)
    let file = home.config.appending(path: "com.example.app.plist")
    try home.write(xml, to: file)
    try home.write(xml, to: home.config.appending(path: "group.suite.plist"))
    let app = try Preferences(environment: home.environment())
    app.set(8, forKey: "count")
    #expect(try app.importFoundationDefaults() == 2)
    #expect(app.integer(forKey: "count") == 8)
    #expect(app.stringArray(forKey: "names") == ["a", "b"])
    #expect(app.propertyList(forKey: "on") == .bool(true))
    app.removeObject(forKey: "names")
    #expect(try app.importFoundationDefaults(suiteName: "group.suite") == 1)
    #expect(try app.importFoundationDefaults(suiteName: "none") == 0)
    #expect(try Data(contentsOf: file) == xml)
    #expect(throws: PreferencesError.self) {
      try app.importFoundationDefaults(suiteName: "../com.example.app")
    }
  }

  @Test func `a file is taken in and left as it is`() throws {
    let home = try TestHome()
    let file = home.directory.file("com.apple.example.plist")
    try home.write(["NSWindow Frame": .string("0 0 10 10")], to: file)
    let before = try Data(contentsOf: file)
    let preferences = Preferences.inMemory()
    #expect(try preferences.importDomain(from: file) == 1)
    #expect(preferences.string(forKey: "NSWindow Frame") == "0 0 10 10")
    #expect(try Data(contentsOf: file) == before)
    #expect(throws: (any Error).self) {
      try preferences.importDomain(from: home.directory.file("none"))
    }
  }
}
