import ExampleTestSupport
import Foundation
import Observation
import SettingsKit
import SteadPreferences
import Testing

@MainActor @Suite struct SettingTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  /// Each call is what a process of its own would open.
  private func preferences() throws -> Preferences {
    try Preferences(domain: "com.example.settings", directory: workshop.directory)
  }

  private func fontSize(_ preferences: Preferences) -> Setting<Int> {
    Setting("fontSize", default: 12, in: PreferencesProvider(preferences))
  }

  @Test func `keeps what a view sets`() throws {
    let setting = fontSize(try preferences())
    #expect(setting.value == 12)
    setting.value = 14
    #expect(setting.value == 14)
    #expect(setting.problem == nil)
    #expect(fontSize(try preferences()).value == 14)
    #expect(try preferences().integer(forKey: "fontSize") == 14)
    try setting.reset()
    #expect(setting.value == 12)
    #expect(try preferences().object(forKey: "fontSize") == nil)
  }

  @Test func `keeps Codable values`() throws {
    struct Window: Codable, Equatable, Sendable {
      var width = 640
      var title: String?
    }
    let provider = PreferencesProvider(try preferences())
    Setting("window", default: Window(), in: provider).value = Window(width: 800, title: "Notes")
    let again = Setting("window", default: Window(), in: PreferencesProvider(try preferences()))
    #expect(again.value == Window(width: 800, title: "Notes"))
  }

  @Test func `observes what others set`() async throws {
    let setting = fontSize(try preferences())
    let other = try preferences()
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = setting.value
      } onChange: {
        continuation.resume()
      }
      other.set(20, forKey: "fontSize")
    }
    // The handler runs before the assignment, and this test is on the main actor as the assignment is.
    await Task.yield()
    #expect(setting.value == 20)
  }

  @Test func `says why a value is not kept`() throws {
    let setting = Setting(
      "size", default: Size(width: 1), in: PreferencesProvider(try preferences()))
    setting.value = Size(width: -1)
    #expect(setting.problem != nil)
    #expect(setting.value == Size(width: 1))
    setting.value = Size(width: 2)
    #expect(setting.problem == nil)
    #expect(setting.value == Size(width: 2))
  }
}

/// A value that cannot always be kept.
private struct Size: Codable, Equatable, Sendable {
  struct Negative: Error {}

  var width: Int

  init(width: Int) { self.width = width }

  func encode(to encoder: any Encoder) throws {
    guard width >= 0 else { throw Negative() }
    var container = encoder.singleValueContainer()
    try container.encode(width)
  }

  init(from decoder: any Decoder) throws {
    width = try decoder.singleValueContainer().decode(Int.self)
  }
}
