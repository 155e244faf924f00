import Foundation
@testable import SteadSecrets
import Testing

/// Apps in a sandbox, where the desktop keeps one secret for each of them.
@Suite(.needs(.busService, .keyring)) struct SecretPortalTests {
  private static let ample = Duration.seconds(120)
  private let bus: PrivateBus

  init() throws { bus = try PrivateBus() }

  /// What a Snap's programs see.
  private var environment: [String: String] {
    bus.environment.merging(["SNAP_NAME": "notes"]) { $1 }
  }

  private func secrets(
    _ place: SecretStoreLocation = .automatic, timeout: Duration = ample
  ) throws(SecretError) -> Secrets {
    try Secrets(service: Home.service, in: place, environment: environment, timeout: timeout)
  }

  private func has(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(environment["HOME"] ?? "")/\(path)")
  }

  @Test func `the vault of an app in a sandbox has its key from the portal`() throws {
    let portal = try PortalService.start(on: bus)
    let secrets = try secrets()
    #expect(secrets.storeDescription.kind == .vault)
    #expect(secrets.storeDescription.reason.contains("Secret portal"))
    #expect(try secrets.string(for: "anna") == nil)
    try secrets.set("word", for: "anna")
    #expect(try self.secrets(.automatic(allowsKeyFile: false)).string(for: "anna") == "word")
    #expect(has(".local/share/stead/secrets/\(Home.service).vault"))
    #expect(!has(".config/stead/secrets.key"))
    withExtendedLifetime(portal) {}
  }

  /// The desktop may answer before it has returned from the call.
  @Test func `an early answer is heard`() throws {
    let portal = try PortalService.start(.early, on: bus)
    let key = try SecretPortal(environment: environment, timeout: Self.ample).secret()
    #expect(key.withBytes { Array($0) } == Array(0..<64))
    withExtendedLifetime(portal) {}
  }

  @Test func `a key of the portal can be named`() throws {
    let portal = try PortalService.start(on: bus)
    let place = try TestVault()
    let key = VaultKey.secretPortal(environment: bus.environment)
    try place.open(key, .create).set("geheim", "anna")
    let vault = try place.open(key, .open)
    #expect(try vault.text("anna") == "geheim")
    #expect(try vault.keySlots.map(\.kind) == [.stored])
    withExtendedLifetime(portal) {}
  }

  @Test(arguments: [
    (PortalService.Answer.refuse, SecretError.Code.cancelled), (.fail, .failed),
    (.short, .wrongKey), (.forbid, .accessDenied),
  ])
  func `a refusal is an error and no vault is made`(
    _ answer: PortalService.Answer, _ code: SecretError.Code
  ) throws {
    let portal = try PortalService.start(answer, on: bus)
    let secrets = try secrets()
    let error = secretError { try secrets.set("word", for: "anna") }
    #expect(error?.code == code && error?.message.contains("Secret Service") == false)
    #expect(!has(".config/stead/secrets.key"))
    #expect(!has(".local/share/stead/secrets/\(Home.service).vault"))
    withExtendedLifetime(portal) {}
  }

  @Test(arguments: [PortalService.Answer.silence, .endless])
  func `no answer is waited for without limit`(_ answer: PortalService.Answer) throws {
    let portal = try PortalService.start(answer, on: bus)
    let error = secretError {
      try SecretPortal(environment: environment, timeout: .milliseconds(500)).secret()
    }
    #expect(error?.unavailability == .timedOut)
    withExtendedLifetime(portal) {}
  }

  /// A vault by the portal's secret does not become one by a key file because the desktop is away.
  @Test func `without its portal, the vault is missed`() throws {
    let portal = try PortalService.start(on: bus)
    try secrets().set("word", for: "anna")
    withExtendedLifetime(portal) {}
    let other = try PrivateBus()
    var environment = environment
    environment["DBUS_SESSION_BUS_ADDRESS"] = other.environment["DBUS_SESSION_BUS_ADDRESS"]
    let error = secretError {
      try Secrets(service: Home.service, environment: environment, timeout: Self.ample)
    }
    #expect(error?.code == .notFound)
    #expect(!has(".config/stead/secrets.key"))
  }

  /// libsecret uses the Secret Service there, and so do we.
  @Test func `a desktop without the portal is like any other`() throws {
    let others = try PortalService.startWithoutSecret(on: bus)
    #expect(try !SecretPortal(environment: environment, timeout: Self.ample).isOffered())
    #expect(try secrets().storeDescription.reason.contains("Nothing on the message bus"))
    withExtendedLifetime(others) {}
    let empty = try PrivateBus()
    #expect(try !SecretPortal(environment: empty.environment, timeout: Self.ample).isOffered())
    #expect(try !SecretPortal(environment: ["HOME": "/"], timeout: Self.ample).isOffered())
  }

  @Test func `a portal that does not answer is no absence`() throws {
    let peer = try SilentPeer(SecretPortal.name, on: bus)
    let error = secretError { try secrets(timeout: .milliseconds(500)) }
    #expect(error?.unavailability == .timedOut)
    withExtendedLifetime(peer) {}
  }

  @Test func `outside of a sandbox, the portal is not asked`() throws {
    let portal = try PortalService.start(on: bus)
    let secrets = try Secrets(
      service: Home.service, environment: bus.environment, timeout: Self.ample)
    #expect(!secrets.storeDescription.reason.contains("portal"))
    withExtendedLifetime(portal) {}
  }

  @Test func `sandboxes are known by what they put into them`() throws {
    let file = try TemporaryDirectory().file("flatpak-info")
    #expect(!SecretPortal.isForProcess([:], information: file.filePath))
    #expect(!SecretPortal.isForProcess(["SNAP_NAME": ""], information: file.filePath))
    #expect(SecretPortal.isForProcess(["SNAP_NAME": "notes"], information: file.filePath))
    let directory = try TemporaryDirectory()
    try Data().write(to: directory.file("flatpak-info"))
    #expect(
      SecretPortal.isForProcess([:], information: directory.file("flatpak-info").filePath))
  }
}

// MARK: - Portal for tests

/// The Secret portal of a desktop, as its specification has it.
enum PortalService {
  /// What the desktop does when it is asked for an app's secret.
  enum Answer: String {
    case secret, early, refuse, fail, silence, short, endless, forbid
  }

  static func start(_ answer: Answer = .secret, on bus: PrivateBus) throws -> BusService {
    try BusService(program, [answer.rawValue], on: bus)
  }

  /// A desktop with other portals, and without this one.
  static func startWithoutSecret(on bus: PrivateBus) throws -> BusService {
    try BusService(program, ["none"], on: bus)
  }

  private static let program = """
    INTERFACE, REQUEST = "org.freedesktop.portal.Secret", "org.freedesktop.portal.Request"
    answer, requests = words[0], []
    SECRET = bytes(range(64))

    class Request(dbus.service.Object):
        @dbus.service.method(REQUEST)
        def Close(self):
            os.environ["closed"] = "yes"

        @dbus.service.signal(REQUEST, signature="ua{sv}")
        def Response(self, response, results):
            pass

    class Desktop(dbus.service.Object):
        @dbus.service.method(
            "org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
        def Get(self, interface, name):
            if answer == "none" or interface != INTERFACE or name != "version":
                raise Failure("org.freedesktop.DBus.Error.InvalidArgs")
            return dbus.UInt32(1)

        @dbus.service.method(
            INTERFACE, in_signature="ha{sv}", out_signature="o", sender_keyword="sender")
        def RetrieveSecret(self, target, options, sender=None):
            if answer == "forbid":
                raise Failure("org.freedesktop.DBus.Error.AccessDenied")
            target, parts = target.take(), sender[1:].replace(".", "_")
            path = f"/org/freedesktop/portal/desktop/request/{parts}/t{len(requests)}"
            request = Request(bus, path)
            requests.append(request)
            none = dbus.Dictionary({}, signature="sv")
            def finish():
                if answer in ("secret", "early"):
                    os.write(target, SECRET)
                if answer == "short":
                    os.write(target, b"short")
                if answer == "endless":
                    os.write(target, bytes(65536))
                if answer != "endless":
                    os.close(target)
                codes = {"refuse": 1, "fail": 2}
                if answer != "silence":
                    request.Response(dbus.UInt32(codes.get(answer, 0)), none)
            if answer == "early":
                finish()
            else:
                GLib.idle_add(finish)
            return dbus.ObjectPath(path)

    desktop = Desktop(bus, "/org/freedesktop/portal/desktop")
    name = dbus.service.BusName("org.freedesktop.portal.Desktop", bus)
    """
}
