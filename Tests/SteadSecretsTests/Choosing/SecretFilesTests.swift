import Foundation
import Testing

@testable import SteadSecrets

@Suite struct SecretFilesTests {
  @Test func filesAreWhereTheEnvironmentSays() throws {
    let files = try SecretFiles(environment: [
      "HOME": "/home/anna", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d",
    ])
    #expect(files.records.filePath == "/c/stead/secrets/")
    #expect(files.lock.filePath == "/c/stead/secrets/lock")
    #expect(files.vault.filePath == "/d/stead/secrets.vault")
    #expect(files.keyFile.filePath == "/c/stead/secrets.key")
    let usual = try SecretFiles(environment: ["HOME": "/home/anna"])
    #expect(usual.vault.filePath == "/home/anna/.local/share/stead/secrets.vault")
    #expect(usual.keyFile.filePath == "/home/anna/.config/stead/secrets.key")
  }

  @Test func aSystemdCredentialGoesBeforeTheKeyFile() throws {
    let directory = try TemporaryDirectory()
    let environment = [
      "HOME": directory.url.filePath, "CREDENTIALS_DIRECTORY": directory.url.filePath,
    ]
    let none = try SecretFiles(environment: environment.filter { $0.key == "HOME" })
    #expect(try none.keyLocation == .keyFile(path: none.keyFile.filePath))
    try Data(count: 32).write(to: directory.file("stead-vault-key"))
    let with = try SecretFiles(environment: environment)
    #expect(try with.keyLocation == .systemdCredential(name: "stead-vault-key"))
  }
}
