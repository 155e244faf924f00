import Synchronization

/// A connection to the bus and a session with the program that offers the service on it.
final class ServiceConnection: Sendable {
  let bus: BusConnection
  /// The program's unique name. Messages are sent to it, so that none reaches a program that does not know
  /// the session.
  let owner: String
  let session: SecretSession
  /// What the collection's alias stood for when it was last asked for. A connection is for one collection.
  let alias = Mutex<ResolvedAlias?>(nil)

  /// A collection that an alias stands for.
  struct ResolvedAlias {
    /// How long a read takes it for granted.
    static let lifetime = Duration.seconds(1)

    let path: String
    let expiry: Deadline
  }

  /// How long ``alias`` counts; only tests choose it.
  let aliasLifetime: Duration

  init(
    _ address: String, _ library: SecretLibrary, aliasLifetime: Duration, until deadline: Deadline
  ) throws(BusFailure) {
    self.aliasLifetime = aliasLifetime
    bus = try BusConnection(address, library, until: deadline)
    owner = try bus.owner(of: ServiceName.bus, until: deadline)
    session = try SecretSession(bus, owner: owner, until: deadline)
  }
}

extension BusConnection {
  /// The unique name of the program that owns a name; the bus starts one if none is running.
  func owner(of name: String, until deadline: Deadline) throws(BusFailure) -> String {
    do throws(BusFailure) {
      return try currentOwner(of: name, until: deadline)
    } catch  where error.kind == .gone {
      try start(name, until: deadline)
      return try currentOwner(of: name, until: deadline)
    }
  }

  private func currentOwner(
    of name: String, until deadline: Deadline
  ) throws(BusFailure) -> String {
    let reply = try callBus("GetNameOwner", [.string(name)], until: deadline)
    guard let owner = reply[0]?.string else { throw BusFailure(.malformed) }
    return owner
  }

  private func start(_ name: String, until deadline: Deadline) throws(BusFailure) {
    do throws(BusFailure) {
      _ = try callBus("StartServiceByName", [.string(name), .uint32(0)], until: deadline)
    } catch  where error.kind == .gone && !isClosed {
      throw BusFailure(.noService, error.name)
    }
  }

  /// Calls a method of the bus itself.
  func callBus(
    _ method: String, _ arguments: [BusValue], until deadline: Deadline
  ) throws(BusFailure) -> BusReply {
    try call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method, arguments,
      until: deadline)
  }
}
