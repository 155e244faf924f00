import ExampleTestSupport
import Foundation
import Testing

/// A real git, a real server that asks for a password, and the program in between.
@Suite struct GitTests {
  private let workshop: Workshop
  private let server: GitServer

  init() throws {
    workshop = try Workshop()
    server = try GitServer(in: workshop, credential: "anna:the secret")
    // Written by a child: what this process has open for writing could not be started while it forks.
    let script = """
      #!/bin/sh
      echo asked >> asked
      case "$1" in Username*) echo anna;; *) cat typed;; esac

      """
    let written = try workshop.run(
      ["sh", "-c", "cat > askpass && chmod 700 askpass"], input: script)
    try #require(written.status == 0, "\(written.errors)")
  }

  /// Clones into a new directory; a person types the password, if somebody does.
  private func clone(
    _ name: String, options: [String], typing password: String? = nil
  ) throws -> Workshop.End {
    let helper = ([try Workshop.program("git-credential-stead")] + options).map { "'\($0)'" }
      .joined(separator: " ")
    var environment: [String: String] = [:]
    if let password {
      try Data("\(password)\n".utf8).write(to: workshop.file("typed"))
      environment["GIT_ASKPASS"] = workshop.file("askpass").path
    }
    return try workshop.run(
      ["git", "-c", "credential.helper=!\(helper)", "clone", "--quiet", server.url, name],
      environment: environment)
  }

  private func lines(_ operation: String, _ options: [String], _ input: String) throws
    -> Workshop.End
  {
    try workshop.run(
      [Workshop.program("git-credential-stead")] + options + [operation], input: input)
  }

  static let ways: [[String]] = [
    [], ["--vault", "notes/git.vault", "--key-file", "notes/git.key"],
  ]

  @Test(arguments: ways)
  func `a password is typed once and forgotten when it is refused`(_ options: [String]) throws {
    let options = options.map { $0.hasPrefix("notes/") ? workshop.file($0).path : $0 }
    let typed = try clone("first", options: options, typing: "the secret")
    #expect(typed.status == 0, "\(typed.errors)")
    #expect(workshop.has("asked") && workshop.has("first/.git"))

    // Nobody types: the password can only come from the store.
    let stored = try clone("second", options: options)
    #expect(stored.status == 0, "\(stored.errors)")
    let log = try workshop.succeed("git", "-C", "second", "log", "--format=%s")
    #expect(log == "The first and only one\n")

    // The server wants another one: git finds the old one refused and has it erased.
    try server.change(credential: "anna:another secret")
    let refused = try clone("third", options: options)
    #expect(refused.status != 0)
    #expect(!refused.errors.contains("the secret"))
    let place = server.url.dropFirst("http://".count).prefix { $0 != "/" }
    let request = "protocol=http\nhost=\(place)\n\n"
    #expect(try lines("get", options, request).output.isEmpty)

    let anew = try clone("fourth", options: options, typing: "another secret")
    #expect(anew.status == 0, "\(anew.errors)")
    #expect(
      try lines("get", options, request).output == "username=anna\npassword=another secret\n")
  }

  @Test func `a wrong password is not kept`() throws {
    #expect(try clone("first", options: [], typing: "a guess").status != 0)
    #expect(try clone("second", options: []).status != 0)
    #expect(!workshop.has("home/.local/share/stead"))
  }

  /// Records and vaults were named after the servers, and stayed when the last password had been erased.
  @Test func `no file is named after a server`() throws {
    let request = "protocol=https\nhost=secret.example\nusername=anna\npassword=word\n\n"
    #expect(try lines("store", [], request).status == 0)
    #expect(try lines("get", [], request).output.contains("password=word"))
    try checkFiles()
    #expect(try lines("erase", [], request).status == 0)
    #expect(try lines("get", [], request).output.isEmpty)
    try checkFiles()
  }

  private func checkFiles() throws {
    let home = workshop.file("home")
    var count = 0
    for path in try FileManager.default.subpathsOfDirectory(atPath: home.path) {
      #expect(!path.contains("secret.example"))
      guard let data = try? Data(contentsOf: home.appending(path: path)) else { continue }
      count += 1
      #expect(data.firstRange(of: Data("secret.example".utf8)) == nil, "\(path)")
    }
    // The record, the vault, its key, and what is beside them.
    #expect(count >= 3)
  }

  /// git goes on and asks, so the program must not stand in the way.
  @Test func `a store that cannot be used holds nobody up`() throws {
    let typed = try clone(
      "first", options: ["--store", "secret-service"], typing: "the secret")
    #expect(typed.status == 0, "\(typed.errors)")
    #expect(typed.errors.contains("git-credential-stead: "))
    #expect(!typed.errors.contains("the secret"))
    #expect(workshop.has("asked"))
  }

  #if os(Linux)
    /// What is looked for later is looked for with keys in the vector registers, which then go to the stack.
    @Test func `the program looks for no function later`() throws {
      let program = try Data(contentsOf: URL(filePath: Workshop.program("git-credential-stead")))
      #expect(ELFFlags(program)?.bindsNow == true)
    }
  #endif

  @Test func `the program tells where the passwords are`() throws {
    let before = try lines("backend", [], "")
    #expect(before.status == 0 && before.output.contains("vault"), "\(before.errors)")
    #expect(before.output.contains("so the secrets are in an encrypted file"))
    #expect(!workshop.has("home/.config/stead"))
  }

  @Test func `what it does not understand is told and what is newer is passed over`() throws {
    let nonsense = try lines("get", [], "nonsense\n")
    #expect(nonsense.status == 64 && nonsense.output.isEmpty)
    #expect(nonsense.errors.contains("usage:"))
    #expect(!nonsense.errors.contains("nonsense"))
    let newer = try lines("capability", [], "")
    #expect(newer.status == 0 && newer.output.isEmpty && newer.errors.isEmpty)
    let long = try lines("get", [], String(repeating: "a=b\n", count: 300_000))
    #expect(long.status == 64 && long.output.isEmpty)
  }
}
