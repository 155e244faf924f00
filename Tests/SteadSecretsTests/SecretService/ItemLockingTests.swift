import Foundation
import SteadSecrets
import Testing

/// A service that locks its items one by one in a collection that is open, as KeePassXC does at its default.
@Suite(.needs(.busService, .keyring)) struct ItemLockingTests {
  private static let ample = Duration.seconds(120)

  private static func secrets(
    _ bus: PrivateBus, _ prompts: SecretService.PromptPolicy = .never,
    timeout: Duration = ample
  ) throws -> Secrets {
    try Secrets(
      service: "S",
      store: SecretService(timeout: timeout, prompts: prompts, environment: bus.environment))
  }

  /// `GetSecret` answers that the item is locked, though its collection is not; all reads failed.
  @Test func anItemThatIsLockedIsUnlockedByItself() throws {
    let bus = try PrivateBus()
    let service = try ItemLockingService.start(on: bus)
    let secrets = try Self.secrets(bus)
    try secrets.set("word", for: "A")
    #expect(try secrets.item(for: "A")?.account == "A")
    #expect(try secrets.string(for: "A") == "word")
    try secrets.set("another", for: "B")
    try secrets.set("new", for: "B")
    try secrets.replace("new", with: "newer", for: "B")
    #expect(try secrets.string(for: "B") == "newer")
    withExtendedLifetime(service) {}
  }

  @Test func whereThatNeedsAPersonNobodyIsAskedUnlessItIsAllowed() throws {
    let bus = try PrivateBus()
    let service = try ItemLockingService.start(prompting: true, on: bus)
    try Self.secrets(bus).set("word", for: "A")
    #expect(errorCode { try Self.secrets(bus).string(for: "A") } == .interactionRequired)
    #expect(errorCode { try Self.secrets(bus).set("new", for: "A") } == .interactionRequired)
    // What needs no secret needs nobody.
    #expect(try Self.secrets(bus).accounts() == ["A"])
    let allowed = try Self.secrets(bus, .allowed(timeout: Self.ample))
    #expect(try allowed.string(for: "A") == "word")
    withExtendedLifetime(service) {}
  }

  @Test func aPersonMayRefuse() throws {
    let bus = try PrivateBus()
    let service = try ItemLockingService.start(prompting: true, refused: true, on: bus)
    let secrets = try Self.secrets(bus, .allowed(timeout: Self.ample))
    try secrets.set("word", for: "A")
    #expect(errorCode { try secrets.string(for: "A") } == .cancelled)
    withExtendedLifetime(service) {}
  }

  /// Four hundred items took longer than one call may, and some stayed.
  @Test func allItemsGoHoweverLongThatTakes() throws {
    let bus = try PrivateBus()
    let service = try ItemLockingService.start(delay: 200, on: bus)
    let timeout = Duration.seconds(3)
    let secrets = try Self.secrets(bus, timeout: timeout)
    for number in 0..<20 { try Self.secrets(bus).set("word", for: "\(number)") }
    let start = ContinuousClock.now
    #expect(try secrets.removeAll() == 20)
    #expect(ContinuousClock.now - start > timeout)
    #expect(try secrets.accounts() == [])
    withExtendedLifetime(service) {}
  }
}
