import Foundation
import Testing

@testable import SteadSecrets

@Suite struct SecretFilesTests {
  @Test func filesAreWhereTheEnvironmentSays() throws {
    let files = try SecretFiles(environment: [
      "HOME": "/home/anna", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d",
    ])
    #expect(files.records.filePath == "/c/stead/secrets/")
    #expect(files.vault(of: "org.example.A").filePath == "/d/stead/secrets/org.example.A.vault")
    #expect(files.vault(of: "../x").filePath == "/d/stead/secrets/%2E.%2Fx.vault")
    #expect(files.keyFile.filePath == "/c/stead/secrets.key")
    let usual = try SecretFiles(environment: ["HOME": "/home/anna"])
    #expect(usual.vault(of: "a").filePath == "/home/anna/.local/share/stead/secrets/a.vault")
    #expect(usual.keyFile.filePath == "/home/anna/.config/stead/secrets.key")
  }

  @Test func aSystemdCredentialGoesBeforeTheKeyFile() throws {
    let directory = try TemporaryDirectory()
    let environment = [
      "HOME": directory.url.filePath, "CREDENTIALS_DIRECTORY": directory.url.filePath,
    ]
    let none = try SecretFiles(environment: environment.filter { $0.key == "HOME" })
    #expect(
      try none.keyLocation(allowsKeyFile: true) == .keyFile(path: none.keyFile.filePath))
    #expect(errorCode { try none.keyLocation(allowsKeyFile: false) } == .notFound)
    try Data(count: 32).write(to: directory.file("stead-vault-key"))
    let with = try SecretFiles(environment: environment)
    for isAllowed in [true, false] {
      #expect(
        try with.keyLocation(allowsKeyFile: isAllowed)
          == .systemdCredential(name: "stead-vault-key"))
    }
  }
}
