import BenchmarkHarness
import Foundation
import SteadSecrets

/// A vault with some items of 64 bytes, opened by a key file.
struct VaultFixture {
  static let service = "org.example.Benchmark"

  let url: URL
  let key: VaultKey
  let environment: [String: String]
  let ids: [SecretID]

  init(itemCount: Int, in directory: URL) throws {
    // The vault takes a directory that nobody else may enter.
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path)
    url = directory.appendingPathComponent("secrets.vault")
    key = .keyFile(directory.appendingPathComponent("secrets.key"))
    environment = [
      "HOME": directory.path, "XDG_STATE_HOME": directory.appendingPathComponent("state").path,
    ]
    ids = try (0..<itemCount).map { try SecretID(service: Self.service, account: "account \($0)") }
    let vault = try open()
    for (index, id) in ids.enumerated() {
      try vault.write(Self.secret(index), for: id, SecretStoreWrite())
    }
  }

  func open() throws -> Vault {
    try Vault(at: url, key: key, opening: .openOrCreate, environment: environment)
  }

  static func secret(_ number: Int) -> SecretBytes {
    SecretBytes(copying: Array(repeating: UInt8(truncatingIfNeeded: number), count: 64))
  }
}

extension SecretBytes {
  fileprivate convenience init(copying bytes: [UInt8]) { self.init(Data(bytes)) }
}
