import Hummingbird

extension SyncServer {
  /// The addresses for the server's operators. Their answers name no users or zones.
  func addOperation(to router: Router<ServerContext>) {
    router.get("healthz") { _, _ in
      _ = try await self.engine.read { try $0.row("SELECT version FROM server_schema") }
      return try Answer.json(["status": "ok"])
    }
    router.get("metrics") { _, _ in
      let text = self.metrics.text(gauges: [
        ("stead_waiting_requests", "Requests that wait for changes.", self.hub.count),
        ("stead_waiting_work", "Transactions that wait for a connection.", self.engine.waitingWork),
      ])
      return Answer.bytes(text.utf8, type: "text/plain; version=0.0.4")
    }
  }
}
