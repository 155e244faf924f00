import ServiceLifecycle

/// Ends waits whose deadline has passed, and looks for changes by other servers of the same database.
struct Waking: Service {
  /// The interval between two checks of the heads, in milliseconds.
  static let interval = 50

  let server: SyncServer

  func run() async throws {
    let asks = if case .postgreSQL = server.engine.location { true } else { false }
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        server.hub.expire(at: .now)
        if asks { await look() }
        // Cancelled when the server ends.
        try? await Task.sleep(for: .milliseconds(Self.interval))
      }
    }
    server.hub.close()
  }

  private func look() async {
    let zones = server.hub.zones
    guard !zones.isEmpty else { return }
    // The next check is soon, and requests report the database's errors.
    let heads = try? await server.engine.read { try Zones.heads(zones, in: $0) }
    server.hub.moved(heads ?? [:])
  }
}
