import BenchmarkHarness
import SteadSecrets

/// A vault from its file to the first secret.
enum VaultOpen {
  private static let callCount = 50

  static var comparisons: [Comparison] { [100, 1_000].map(comparison) }

  private static func comparison(_ count: Int) -> Comparison {
    Comparison(
      name: "vault-open", title: "vault, \(count.grouped) items: open by key file, and get",
      limit: .time(2_000_000)
    ) { directory in
      let fixture = try VaultFixture(itemCount: count, in: directory)
      return [
        Comparison.Peer(name: "Stead") {
          let time = try timed {
            for call in 0..<callCount {
              keep(try fixture.open().bytes(for: fixture.ids[call % count]))
            }
          }
          return time / Double(callCount)
        }
      ]
    }
  }
}
