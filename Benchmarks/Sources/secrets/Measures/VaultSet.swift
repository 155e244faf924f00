import BenchmarkHarness
import Foundation
import SteadFiles
import SteadSecrets

/// One secret into a vault, beside a bare replacement of a file of the same size, both durable.
enum VaultSet {
  private static let callCount = 20

  static var comparisons: [Comparison] { [100, 1_000].map(comparison) }

  private static func comparison(_ count: Int) -> Comparison {
    Comparison(
      name: "vault-set", title: "vault, \(count.grouped) items: set / AtomicFile.replace",
      limit: .ratio(3)
    ) { directory in
      let fixture = try VaultFixture(itemCount: count, in: directory)
      let vault = try fixture.open()
      let contents = try Data(contentsOf: fixture.url)
      let bare = AtomicFile(directory.appendingPathComponent("bare"))
      return [
        Comparison.Peer(name: "Stead") {
          let time = try timed {
            for call in 0..<callCount {
              try vault.write(
                VaultFixture.secret(call), for: fixture.ids[call % count], SecretStoreWrite())
            }
          }
          return time / Double(callCount)
        },
        Comparison.Peer(name: "AtomicFile") {
          let time = try timed { for _ in 0..<callCount { try bare.replace(with: contents) } }
          return time / Double(callCount)
        },
      ]
    }
  }
}
