import BenchmarkHarness
import SteadSecrets

/// One secret out of a vault that is open.
enum VaultGet {
  private static let callCount = 20_000

  static var comparisons: [Comparison] { [100, 1_000].map(comparison) }

  private static func comparison(_ count: Int) -> Comparison {
    Comparison(
      name: "vault-get", title: "vault, \(count.grouped) items: get", limit: .time(10_000)
    ) { directory in
      let fixture = try VaultFixture(itemCount: count, in: directory)
      let vault = try fixture.open()
      let order = (0..<callCount).map { _ in fixture.ids[Int.random(in: 0..<count)] }
      return [
        Comparison.Peer(name: "Stead") {
          let time = try timed { for id in order { keep(try vault.bytes(for: id)) } }
          return time / Double(callCount)
        }
      ]
    }
  }
}
