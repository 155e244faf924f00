import Foundation
import SteadFormats
import Testing

@testable import SteadPreferences

/// Typed keys on files, which hand edits and other versions of the app have a part in.
struct TypedKeyFileTests {
  let home: TestHome
  let plist: URL

  init() throws {
    home = try TestHome()
    plist = home.config.appending(path: "com.example.app/com.example.app.plist")
  }

  /// What the property list file holds.
  func published() throws -> PropertyList { try BinaryPropertyList.decode(Data(contentsOf: plist)) }

  @Test func `keeps all forms over reopening`() throws {
    let device = UUID()
    do {
      let preferences = try Preferences(environment: home.environment())
      preferences[\.theme] = .dark
      preferences[\.margins] = Margins(left: 3, right: 4)
      preferences[\.tags] = ["b", "a"]
      preferences[\.shortcuts] = ["open": [1]]
      preferences[\.hours] = 1...2
      preferences[\.home] = URL(string: "https://example.com/x?y#z")
      preferences[\.device] = device
    }
    let preferences = try Preferences(environment: home.environment())
    #expect(preferences[\.theme] == .dark)
    #expect(preferences[\.margins] == Margins(left: 3, right: 4))
    #expect(preferences[\.tags] == ["a", "b"])
    #expect(preferences[\.shortcuts] == ["open": [1]])
    #expect(preferences[\.hours] == 1...2)
    #expect(preferences[\.home]?.absoluteString == "https://example.com/x?y#z")
    #expect(preferences[\.device] == device)
  }

  @Test func `moves an old name in the file`() throws {
    try home.write(["older": .integer(5)], to: plist)
    let key = Preferences.Key<Int>("new", default: 0).renamed(from: "older")
    let preferences = try Preferences(environment: home.environment())
    #expect(preferences[key] == 5)
    preferences.synchronize()
    #expect(try published() == ["new": .integer(5)].asValue)
  }

  @Test func `keeps aside in the file`() throws {
    try home.write(["margins": .data(Data("{".utf8)), "count": .string("many")], to: plist)
    let preferences = try Preferences(environment: home.environment())
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    preferences[\.margins] = Margins()
    preferences[\.count] = 1
    preferences.synchronize()
    #expect(
      try published()
        == [
          "count": .integer(1), "count.undecodable": .string("many"),
          "margins": ["left": .double(1), "right": .double(2)].asValue,
          "margins.undecodable": .data(Data("{".utf8)),
        ].asValue)
    #expect(errors.codes == [.doesNotDecode, .doesNotDecode])
  }

  /// A change that rests on what was there is not made when that has changed.
  @Test(arguments: [true, false])
  func `looks and changes in one step`(isInFile: Bool) throws {
    let directory = home.config.appending(path: "store")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let store =
      isInFile
      ? try DomainStore.open(domain: "store", directory: directory, options: DomainStore.Options())
      : DomainStore(inMemory: "store")
    try store.set(.integer(1), forKey: "a")
    let edits = [
      DomainEdit(key: "a", value: .integer(2)), DomainEdit(key: "b", value: .bool(true)),
    ]
    let isThere = [DomainEdit(key: "a", value: .integer(1)), DomainEdit(key: "b", value: nil)]
    #expect(try store.apply(edits, ifStill: isThere))
    #expect(store.value(forKey: "a") == .integer(2))
    #expect(store.value(forKey: "b") == .bool(true))
    #expect(try !store.apply([DomainEdit(key: "a", value: nil)], ifStill: isThere))
    #expect(store.value(forKey: "a") == .integer(2))
  }
}
