import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadPreferences

/// Changes that depend on what is stored, while a stopped process has the journal locked.
///
/// They are not made. The error said that all values are in the journal.
@Suite(.hangLimit) struct LockedHistoryTests {
  private enum Color: String, Codable { case red }

  @Test func `the error says that the change was not made`() throws {
    let home = try HistoryHome()
    let history = try home.history()
    try history.prepend(1, 2)
    try home.preferences.setPropertyList(.string("blue"), forKey: "color")
    let color = Preferences.Key<Color>("color", default: .red)
    let changes: [(String, () throws -> Void)] = [
      ("prompts", { try history.prepend(prompt(3)) }),
      ("prompts", { try history.prepend(contentsOf: [prompt(3), prompt(4)]) }),
      ("prompts", { try history.update(Prompt(id: 1, text: "new")) }),
      ("prompts", { try history.update(id: 1) { $0.text = "new" } }),
      ("prompts", { try history.remove(id: 1) }), ("prompts", { try history.removeAll() }),
      ("prompts", { try history.batch { $0.remove(id: 2) } }),
      ("domain", { try home.preferences.set(.red, for: color) }),
      ("domain", { _ = try home.preferences.apply([DomainEdit(key: "a", value: .integer(1))]) }),
    ]
    let before = history.items
    for name in ["prompts", "domain"] {
      let store = name == "domain" ? home.preferences.writableDomain : try home.store
      let file = try #require(store.state.withLock { $0.file })
      let path = file.directory.file("\(file.name).journal").filePath
      let holder = try POSIXDisk().open(path, O_RDWR, mode: 0)
      #expect(try POSIXDisk().lock(holder, wait: true, path: path))
      for (place, change) in changes where place == name {
        let error = #expect(throws: PreferencesError.self) { try change() }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("was not made") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("All values") == false)
      }
      unlockAndClose(holder)
    }
    #expect(try history.items == before && home.foreign().items == before)
    #expect(home.preferences.propertyList(forKey: "color") == .string("blue"))
    for (_, change) in changes { try change() }
    #expect(try home.foreign().items.isEmpty && home.preferences.integer(forKey: "a") == 1)
    #expect(home.preferences.string(forKey: "color") == "red")
  }
}
