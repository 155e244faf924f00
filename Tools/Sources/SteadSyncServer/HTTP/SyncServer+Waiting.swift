import Hummingbird
import ServiceLifecycle

extension SyncServer {
  /// How long a request waits, in seconds.
  static let maximumWait = 55

  private struct Wait: Decodable {
    /// The numbers up to which the zones were read.
    var zones: [String: Int64]
    var seconds: Int?
  }

  /// The address at which devices wait for news.
  func addWaiting(to router: RouterGroup<ServerContext>) {
    router.post("wait") { request, context in
      let caller = try context.caller
      let wait = try await Input.json(Wait.self, request)
      guard wait.zones.count <= WaitHub.maximumZones else {
        throw ServerError(
          .tooLarge, "The request waits for too many zones.", remedy: "Wait for fewer.",
          figures: ["limit": Int64(WaitHub.maximumZones)])
      }
      for zone in wait.zones.keys { try Input.check(zone: zone) }
      try await self.engine.read { session in
        for zone in wait.zones.keys {
          try Membership.check(caller, zone: zone, atLeast: .read, in: session)
        }
      }
      let zones = await self.wait(wait.zones, seconds: wait.seconds ?? Self.maximumWait)
      return try Answer.json(["zones": zones])
    }
  }

  private func wait(_ zones: [String: Int64], seconds: Int) async -> [String] {
    let deadline = ContinuousClock.now + .seconds(max(0, min(seconds, Self.maximumWait)))
    return await withGracefulShutdownHandler {
      await hub.wait(for: zones, until: deadline) {
        // The heads may have moved before the request was in the hub.
        Task {
          let names = Array(zones.keys)
          // A failure is like no news: the client asks again after the wait.
          let heads = try? await self.engine.read { try Zones.heads(names, in: $0) }
          self.hub.moved(heads ?? [:])
        }
      }
    } onGracefulShutdown: {
      self.hub.close()
    }
  }
}
