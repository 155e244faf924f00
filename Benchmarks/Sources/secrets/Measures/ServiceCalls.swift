import BenchmarkHarness
import Foundation
import LibsecretPeer
import SteadSecrets

/// Secrets with the desktop's service, beside libsecret called from C, in one process and one keyring.
enum ServiceCalls {
  private static let itemCount = 20

  static var comparisons: [Comparison] { BenchmarkProgram.isAgain ? [get, set, open] : [] }

  private static var get: Comparison {
    Comparison(
      name: "service-get", title: "Secret Service: get / libsecret from C", limit: .ratio(1.3)
    ) { _ in
      let callCount = 200
      let (service, ids) = try fill("get")
      return [
        Comparison.Peer(name: "Stead") {
          let time = try timed {
            for call in 0..<callCount { keep(try service.bytes(for: ids[call % itemCount])) }
          }
          return time / Double(callCount)
        },
        Comparison.Peer(name: "libsecret") {
          let time = try timed {
            for call in 0..<callCount {
              let id = ids[call % itemCount]
              guard libsecret_peer_get(id.service, id.account) > 0 else { throw PeerError() }
            }
          }
          return time / Double(callCount)
        },
      ]
    }
  }

  private static var set: Comparison {
    Comparison(
      name: "service-set", title: "Secret Service: set / libsecret from C"
    ) { _ in
      let callCount = 20
      let (service, ids) = try fill("set")
      return [
        Comparison.Peer(name: "Stead") {
          let time = try timed {
            for call in 0..<callCount {
              try service.write(
                SecretBytes("secret \(call)"), for: ids[call % itemCount], SecretStoreWrite())
            }
          }
          return time / Double(callCount)
        },
        Comparison.Peer(name: "libsecret") {
          let time = try timed {
            for call in 0..<callCount {
              let id = ids[call % itemCount]
              guard libsecret_peer_set(id.service, id.account, "secret \(call)") else {
                throw PeerError()
              }
            }
          }
          return time / Double(callCount)
        },
      ]
    }
  }

  private static var open: Comparison {
    Comparison(
      name: "service-open", title: "Secret Service: connect, and get"
    ) { _ in
      let ids = try fill("open").ids
      return [
        Comparison.Peer(name: "Stead") {
          let callCount = 20
          let time = try timed {
            for call in 0..<callCount {
              keep(try SecretService().bytes(for: ids[call % itemCount]))
            }
          }
          return time / Double(callCount)
        }
      ]
    }
  }

  private static func fill(_ name: String) throws -> (service: SecretService, ids: [SecretID]) {
    let service = SecretService()
    let ids = try (0..<itemCount).map {
      try SecretID(service: "org.example.Benchmark.\(name)", account: "account \($0)")
    }
    for id in ids {
      try service.write(SecretBytes("a secret of a few bytes"), for: id, SecretStoreWrite())
    }
    return (service, ids)
  }

  private struct PeerError: Error {}
}
