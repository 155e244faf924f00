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
  @Test func `an item that is locked is unlocked by itself`() throws {
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

  @Test func `where that needs a person, nobody is asked unless it is allowed`() throws {
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

  @Test func `a person may refuse`() throws {
    let bus = try PrivateBus()
    let service = try ItemLockingService.start(prompting: true, refused: true, on: bus)
    let secrets = try Self.secrets(bus, .allowed(timeout: Self.ample))
    try secrets.set("word", for: "A")
    #expect(errorCode { try secrets.string(for: "A") } == .cancelled)
    withExtendedLifetime(service) {}
  }

  /// Four hundred items took longer than one call may, and some stayed.
  @Test func `all items go, however long that takes`() throws {
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

// MARK: - Service for tests

/// A Secret Service that locks its items one by one, as KeePassXC does, and takes its time to delete them.
///
/// Its collection gets messages at its own path alone, not at its alias's.
enum ItemLockingService {
  /// - Parameters:
  ///   - prompts: Whether a person is asked before an item is unlocked.
  ///   - isRefused: Whether that person refuses.
  ///   - delay: How long it takes to delete an item, in milliseconds.
  static func start(
    prompting prompts: Bool = false, refused isRefused: Bool = false, delay: Int = 0,
    on bus: PrivateBus
  ) throws -> BusService {
    try BusService(
      program, [prompts ? "prompt" : "", isRefused ? "refuse" : "", "\(delay)"], on: bus)
  }

  private static let program = """
    ROOT = "/org/freedesktop/secrets"
    COLLECTION = ROOT + "/collection/tests"
    NAME = "org.freedesktop.Secret."
    asks, refuses, delay = words[0] == "prompt", words[1] == "refuse", int(words[2])
    items = {}

    class Item(Object):
        def __init__(self, path, properties, secret):
            super().__init__(bus, path)
            self.path, self.locked, self.secret = path, True, secret[2]
            self.label = properties[NAME + "Item.Label"]
            self.attributes = properties[NAME + "Item.Attributes"]

        def values(self):
            return {
                "Locked": self.locked, "Label": self.label, "Attributes": self.attributes,
                "Created": dbus.UInt64(1), "Modified": dbus.UInt64(1),
            }

        def check(self):
            if self.locked:
                raise Failure(NAME + "Error.IsLocked")

        @dbus.service.method(NAME + "Item", in_signature="o", out_signature="(oayays)")
        def GetSecret(self, session):
            self.check()
            return (session, dbus.ByteArray(b""), self.secret, "text/plain")

        @dbus.service.method(NAME + "Item", in_signature="(oayays)")
        def SetSecret(self, secret):
            self.check()
            self.secret = secret[2]

        @dbus.service.method(NAME + "Item", out_signature="o")
        def Delete(self):
            time.sleep(delay / 1000)
            del items[self.path]
            self.remove_from_connection()
            return dbus.ObjectPath("/")

    class Collection(Object):
        def values(self):
            return {"Locked": False, "Label": "Tests"}

        @dbus.service.method(NAME + "Collection", in_signature="a{ss}", out_signature="ao")
        def SearchItems(self, attributes):
            return dbus.Array(
                [path for path, item in items.items()
                 if all(item.attributes.get(name) == value for name, value in attributes.items())],
                signature="o")

        @dbus.service.method(NAME + "Collection", in_signature="a{sv}(oayays)b", out_signature="oo")
        def CreateItem(self, properties, secret, replace):
            path = dbus.ObjectPath(f"{COLLECTION}/{len(items) + 1}")
            items[path] = Item(path, properties, secret)
            return path, dbus.ObjectPath("/")

    class Prompt(Object):
        def values(self):
            return {}

        @dbus.service.method(NAME + "Prompt", in_signature="s")
        def Prompt(self, window):
            def answer():
                if not refuses:
                    items[self.item].locked = False
                self.Completed(refuses, "")
            GLib.idle_add(answer)

        @dbus.service.method(NAME + "Prompt")
        def Dismiss(self):
            pass

        @dbus.service.signal(NAME + "Prompt", signature="bv")
        def Completed(self, dismissed, result):
            pass

    class Service(Object):
        def values(self):
            return {"Collections": dbus.Array([COLLECTION], signature="o")}

        @dbus.service.method(NAME + "Service", in_signature="sv", out_signature="vo")
        def OpenSession(self, algorithm, input):
            if algorithm != "plain":
                raise Failure("org.freedesktop.DBus.Error.NotSupported")
            return "", dbus.ObjectPath(ROOT + "/session/1")

        @dbus.service.method(NAME + "Service", in_signature="s", out_signature="o")
        def ReadAlias(self, name):
            return dbus.ObjectPath(COLLECTION)

        @dbus.service.method(NAME + "Service", in_signature="ao", out_signature="aoo")
        def Unlock(self, paths):
            none = dbus.Array([], signature="o")
            if not asks:
                for path in paths:
                    items[path].locked = False
                return paths, dbus.ObjectPath("/")
            prompt.item = paths[0]
            return none, dbus.ObjectPath(ROOT + "/prompt")

    service = Service(bus, ROOT)
    collection = Collection(bus, COLLECTION)
    prompt = Prompt(bus, ROOT + "/prompt")
    name = dbus.service.BusName("org.freedesktop.secrets", bus)
    """
}
