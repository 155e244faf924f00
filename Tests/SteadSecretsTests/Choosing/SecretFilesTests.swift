import Foundation
import Testing

@testable import SteadSecrets

@Suite struct SecretFilesTests {
  @Test func `files are where the environment says`() throws {
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

  /// Without HOME, a home that was named by the user database and didn't exist counted as one: a read found no
  /// secret where it should have thrown, and an app asked for the password again.
  @Test func `a home must exist if a location is below it, wherever it is named`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let (present, missing) = (directory.url.filePath, directory.file("not mounted").filePath)
    let file = directory.file("file")
    try Data().write(to: file)
    let bases = ["XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"]
    let homes = [nil, "", "relative", missing, file.filePath, present]
    for home in homes {
      for account in [missing, file.filePath, present] {
        for names in [[], ["XDG_CONFIG_HOME"], ["XDG_DATA_HOME"], Array(bases.keys)] {
          var environment = bases.filter { names.contains($0.key) }
          environment["HOME"] = home
          let files = try SecretFiles(
            environment: environment, accountHome: URL(filePath: account))
          let error = secretError { try files.check() }
          let isRight = names.count == 2 || (home ?? account) == present
          #expect((error == nil) == isRight, "\(home ?? "none") \(account) \(names)")
          #expect(error == nil || error?.code == .failed && error?.message.contains("HOME") == true)
        }
      }
    }
  }

  @Test func `a systemd credential goes before the key file`() throws {
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
