import Foundation
import SteadPreferences
import SteadTransfer
import Testing

/// What another program has kept with Foundation's own `UserDefaults`.
struct FoundationDefaultsTests {
  @Test func `keys come over and the file stays`() throws {
    let home = try TemporaryDirectory(inMemory: true)
    let variables = [
      "HOME": home.url.filePath, "CFFIXED_USER_HOME": home.url.filePath,
      "XDG_CONFIG_HOME": home.file("config").filePath,
    ]
    try FileManager.default.createDirectory(
      at: home.file("config"), withIntermediateDirectories: true)
    let program = try WorkerProcess(
      [try WorkerProcess.program("TransferWorker"), "foundation"], environment: variables)
    #expect(program.rest() == [] && program.finish() == 0)

    let source = try TransferSource.userDefaults(
      program: "TransferWorker", variables: variables)
    let file = home.file("config/TransferWorker.plist")
    let before = try Data(contentsOf: file)
    let preferences = try Preferences(
      domain: "new", directory: home.url,
      environment: Preferences.Environment(appID: "new", variables: variables))
    let transfer = Transfer("settings", from: source, to: .preferences(preferences)) {
      $0
    }
    let report = try transfer.run()
    #expect((report.moved, report.removed, report.left) == (5, 0, 5))
    #expect(preferences.propertyList(forKey: "count") == .integer(7))
    #expect(preferences.propertyList(forKey: "ratio") == .double(0.5))
    #expect(preferences.propertyList(forKey: "isOn") == .bool(true))
    #expect(preferences.stringArray(forKey: "names") == ["one", "two"])
    #expect(preferences.data(forKey: "blob") == Data([1, 2]))
    #expect(try Data(contentsOf: file) == before)
    #expect(try transfer.run().outcome == .nothingToDo)
  }
}
