import SteadPreferences
import Testing

@testable import SteadTransfer

/// What a report and an error say to somebody who looks for the reason.
@Suite struct TransferMessageTests {
  private let preferences = Preferences.inMemory("org.example.messages")

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
