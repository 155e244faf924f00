/// A connection to the bus and a session with the program that offers the service there.
final class ServiceConnection: Sendable {
  let bus: BusConnection
  /// The program's unique name. Messages go to it, so that none reaches a program that does not know
  /// the session.
  let owner: String
  let session: SecretSession

  init(_ address: String, _ library: SecretLibrary, until deadline: Deadline) throws(BusFailure) {
    bus = try BusConnection(address, library, until: deadline)
    owner = try Self.owner(bus, until: deadline)
    session = try SecretSession(bus, owner: owner, until: deadline)
  }

  /// Who offers the service, once the bus has started it where nobody does.
  private static func owner(
    _ bus: BusConnection, until deadline: Deadline
  ) throws(BusFailure) -> String {
    do throws(BusFailure) {
      return try currentOwner(bus, until: deadline)
    } catch  where error.kind == .gone {
      try start(bus, until: deadline)
      return try currentOwner(bus, until: deadline)
    }
  }

  private static func currentOwner(
    _ bus: BusConnection, until deadline: Deadline
  ) throws(BusFailure) -> String {
    let reply = try bus.callBus("GetNameOwner", [.string(ServiceName.bus)], until: deadline)
    guard let owner = reply[0]?.string else { throw BusFailure(.malformed) }
    return owner
  }

  private static func start(_ bus: BusConnection, until deadline: Deadline) throws(BusFailure) {
    do throws(BusFailure) {
      _ = try bus.callBus(
        "StartServiceByName", [.string(ServiceName.bus), .uint32(0)], until: deadline)
    } catch  where error.kind == .gone && !bus.isClosed {
      throw BusFailure(.noService, error.name)
    }
  }
}

/// Names that the Secret Service's specification gives.
enum ServiceName {
  static let bus = "org.freedesktop.secrets"
  static let path = "/org/freedesktop/secrets"
  static let service = "org.freedesktop.Secret.Service"
  static let collection = "org.freedesktop.Secret.Collection"
  static let item = "org.freedesktop.Secret.Item"
  static let prompt = "org.freedesktop.Secret.Prompt"
  static let properties = "org.freedesktop.DBus.Properties"
  /// The schema of items that have no special one.
  static let schema = "org.freedesktop.Secret.Generic"
  static let schemaAttribute = "xdg:schema"
  /// Where a path would be if there were one.
  static let noPath = "/"
  /// What shows GNOME Keyring's prompts.
  static let prompter = "org.gnome.keyring.SystemPrompter"
}

extension BusConnection {
  /// Calls a method of the bus itself.
  func callBus(
    _ method: String, _ arguments: [BusValue], until deadline: Deadline
  ) throws(BusFailure) -> BusReply {
    try call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method, arguments,
      until: deadline)
  }
}
