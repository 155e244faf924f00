import Foundation
import SteadSecrets

/// Secrets at their automatic place, by the environment of the process.
///
///     automatic get <account>           prints the secret, or `none`, and the kind of the store
///     automatic set <account> <secret>
///     automatic move <place> <count>    moves to `vault`, `secret-service` or a vault's path, and is
///                                       killed after so many steps
struct Automatic {
  private static let service = "org.example.Notes"

  static func run(_ arguments: [String]) throws {
    let secrets = try Secrets(service: service, timeout: .seconds(120))
    switch (arguments.first, arguments.count) {
    case ("get", 2):
      say("\(try secrets.string(for: arguments[1]) ?? "none") \(secrets.storeDescription.kind)")
    case ("set", 3): try secrets.set(arguments[2], for: arguments[1])
    case ("move", 3):
      guard let count = Int(arguments[2]) else { WorkerMain.misuse() }
      move(secrets, to: place(arguments[1]), killedAfter: count)
    default: WorkerMain.misuse()
    }
  }

  private static func place(_ name: String) -> SecretStoreLocation {
    switch name {
    case "vault": .vault()
    case "secret-service": .secretService()
    default: .vault(at: URL(filePath: name))
    }
  }

  private static func move(
    _ secrets: Secrets, to place: SecretStoreLocation, killedAfter count: Int
  ) {
    let done = DispatchSemaphore(value: 0)
    Task {
      do {
        let steps = Steps(left: count)
        try await secrets.move(to: place, accepting: [.encryptedAttributes]) { _ in steps.take() }
      } catch {
        WorkerMain.fail(error)
      }
      done.signal()
    }
    done.wait()
  }

  /// Kills the process once it has taken so many steps.
  // Sendable: the steps of a move are told one after the other, from the one task of this process.
  private final class Steps: @unchecked Sendable {
    private var left: Int

    init(left: Int) { self.left = left }

    func take() {
      if left == 0 { kill(getpid(), SIGKILL) }
      left -= 1
    }
  }
}
