import Foundation
import SteadPreferences
import Testing

@testable import SteadTransfer

/// What a report and an error say to somebody who looks for the reason.
@Suite struct TransferMessageTests {
  private let preferences = Preferences.inMemory("org.example.messages")
  private let home: TemporaryDirectory

  init() throws { home = try TemporaryDirectory(inMemory: true) }

  private func texts(_ key: String, to other: Preferences) -> Transfer<String, PreferenceEntry> {
    Transfer(
      "texts", from: .preference(key, of: String.self, in: preferences), to: .preferences(other)
    ) { PreferenceEntry(key: "text.\($0)", value: .string($0)) }
  }

  /// It looked as if all had been moved.
  @Test func `a misspelt key is named`() throws {
    preferences.set(["one"], forKey: "drafts")
    let report = try texts("draft", to: .inMemory("org.example.new")).run()
    #expect("\(report)" == "nothing to move: key draft of org.example.messages holds nothing")
  }

  private enum Kind: String, Decodable { case small, large }
  private struct Part: Decodable {
    var name: String
    var kind: Kind?
    var sizes: [String: [Int]]?
  }
  enum Format { case propertyList, json, csv }
  enum Asked { case text, number, kind, part }

  /// The reason for an element of another type was "A value is corrupt."
  @Test(
    arguments: [
      (.propertyList, "(<01>)", .text, "It is data, which does not read as String."),
      (.propertyList, "({secret = a;})", .text, "It is a dictionary, which does not read as"),
      (.propertyList, "(secret)", .number, "It is a string, which does not read as Int."),
      (.propertyList, "(secret)", .part, "It isn't a dictionary."),
      (.propertyList, "(secret)", .kind, "It has a form that its type does not read."),
      (.propertyList, "({name = <01>;})", .part, "The field name isn't of the type String."),
      (.propertyList, "({kind = small;})", .part, "The field name is missing. Add it"),
      (.propertyList, "({name = a; kind = secret;})", .part, "The field kind has a form"),
      (.propertyList, "({name = a; sizes = {secret = b;};})", .part, "The field sizes.… isn't"),
      (.json, "[4711]", .text, "It isn't of the type String."),
      (.json, "[\"secret\"]", .number, "It isn't of the type Int."),
      (.json, "[\"secret\"]", .kind, "It has a form that its type does not read."),
      (.json, "[\"secret\"]", .part, "It isn't "),
      (.json, "[{\"name\": 4711}]", .part, "The field name isn't of the type String."),
      (.json, "[{\"name\": null}]", .part, "The field name "),
      (.json, "[{\"kind\": \"small\"}]", .part, "The field name is missing. Add it"),
      (.json, "[{\"name\": \"a\", \"kind\": \"secret\"}]", .part, "The field kind has a form"),
      (.json, "[{\"name\": \"a\", \"sizes\": {\"secret\": 1}}]", .part, "The field sizes.… "),
      (.csv, "name\nsecret\n", .text, "It isn't of the type String."),
      (.csv, "kind\nsmall\n", .part, "The field name is missing. Add it"),
      (.csv, "name,kind\na,secret\n", .part, "The field kind has a form"),
    ] as [(Format, String, Asked, String)])
  func `a reason says what does not decode, and what to do`(
    format: Format, text: String, asked: Asked, expected: String
  ) throws {
    let file = home.file("items")
    try Data(text.utf8).write(to: file)
    let told =
      switch asked {
      case .text: try reason(format, file, String.self)
      case .number: try reason(format, file, Int.self)
      case .kind: try reason(format, file, Kind.self)
      case .part: try reason(format, file, Part.self)
      }
    #expect(told.hasPrefix(expected), "\(told)")
    #expect(told.contains(" in the source, or "), "\(told)")
    #expect(!told.contains("secret") && !told.contains("4711"), "\(told)")
  }

  /// Why the first item of a file does not decode.
  private func reason<Value: Decodable & Sendable>(
    _ format: Format, _ file: URL, _ type: Value.Type
  ) throws -> String {
    let items =
      switch format {
      case .propertyList: try PropertyListFile<Value>(file).read { _ in }
      case .json: try JSONFile<Value>(file).read { _ in }
      case .csv: try CSVFile<Value>(file).read { _ in }
      }
    let item = try #require(items.first)
    guard case .failure(let error) = item.value else { return "It decodes." }
    return item.failure(error).reason
  }

  /// The message said "see the cause", and the description did not have it.
  @Test func `the description has the sentence of the cause`() {
    let cause = PreferencesError(code: .failed, message: "The disk is full.")
    let error = TransferError(code: .failed, message: "It could not be written.", cause: cause)
    #expect("\(error)".contains("It could not be written. The disk is full."))
    #expect(error.errorDescription == "\(error)")
  }

  /// An item that equals one of the other source counted as moved, and stayed where it was without a word.
  @Test func `another source under the same name is refused`() throws {
    let other = Preferences.inMemory("org.example.new")
    preferences.set(["one"], forKey: "drafts")
    preferences.set(["one", "two"], forKey: "letters")
    #expect(try texts("drafts", to: other).run().moved == 1)
    for act in [
      { _ = try texts("letters", to: other).run() },
      { _ = try texts("letters", to: other).preview() },
    ] as [() throws -> Void] {
      let error = try transferError(act)
      #expect(error.code == .unsupported)
      #expect(error.message.contains("key drafts of org.example.messages"))
    }
    #expect(preferences.stringArray(forKey: "letters") == ["one", "two"])
    #expect(try texts("drafts", to: other).run().outcome == .nothingToDo)
    try texts("drafts", to: other).resetReceipt()
    other.removeObject(forKey: "text.one")
    #expect(try texts("letters", to: other).run().moved == 2)
  }
}

@Suite struct TransferErrorTests {
  @Test(arguments: [
    (TransferError.Code.unreadable, "unreadable"), (.notConverted, "notConverted"),
    (.conflict, "conflict"), (.notVerified, "notVerified"), (.changed, "changed"),
    (.unsupported, "unsupported"), (.failed, "failed"),
  ])
  func `a code prints as its name`(_ code: TransferError.Code, _ name: String) {
    #expect("\(code)" == name)
  }
}
