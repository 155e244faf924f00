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
