import Foundation
import SteadSecrets
import Testing

/// Who may read and write the files.
@Suite struct VaultSafetyTests {
  private let place: TestVault

  init() throws { place = try TestVault() }

  private var directory: URL { place.url.deletingLastPathComponent() }

  @Test func `what is made is closed to others`() throws {
    try place.open().set("geheim", "anna")
    #expect(try directory.mode == 0o700)
    #expect(try place.keyFile.deletingLastPathComponent().mode == 0o700)
    #expect(try place.witnesses.mode == 0o700)
    let witness = try #require(
      FileManager.default.contentsOfDirectory(
        at: place.witnesses, includingPropertiesForKeys: nil
      ).first)
    for file in [place.url, place.keyFile, directory.file("secrets.vault.lock"), witness] {
      #expect(try file.mode == 0o600)
    }
  }

  @Test(arguments: [0o640, 0o604, 0o610, 0o602, 0o660, 0o644])
  func `a vault open to others is refused`(_ mode: Int) throws {
    let vault = try place.open()
    try vault.set("geheim", "anna")
    try place.url.setMode(mode)
    #expect(errorCode { _ = try place.open() } == .accessDenied)
    // One that is open already looks again, too.
    #expect(errorCode { _ = try vault.text("anna") } == .accessDenied)
    #expect(errorCode { try vault.set("neu", "anna") } == .accessDenied)
    try place.url.setMode(0o600)
    #expect(try vault.text("anna") == "geheim")
  }

  @Test(arguments: [0o750, 0o705, 0o770, 0o701])
  func `a directory open to others is refused`(_ mode: Int) throws {
    let vault = try place.open()
    try directory.setMode(mode)
    #expect(errorCode { _ = try place.open() } == .accessDenied)
    #expect(errorCode { try vault.set("geheim", "anna") } == .accessDenied)
    try FileManager.default.removeItem(at: place.url)
    #expect(errorCode { _ = try place.open(.create) } == .accessDenied)
  }

  @Test(arguments: [0o640, 0o604, 0o620])
  func `a key file open to others is refused`(_ mode: Int) throws {
    _ = try place.open()
    try place.keyFile.setMode(mode)
    #expect(errorCode { _ = try place.open() } == .accessDenied)
  }

  @Test func `a key file that others could exchange is refused`() throws {
    _ = try place.open()
    try place.keyFile.deletingLastPathComponent().setMode(0o777)
    #expect(errorCode { _ = try place.open() } == .accessDenied)
    try place.keyFile.deletingLastPathComponent().setMode(0o755)
    _ = try place.open()
  }

  @Test(.needs(.superuser))
  func `files of others are refused`() throws {
    let vault = try place.open()
    for file in [place.url, directory, place.keyFile] {
      #expect(chown(file.filePath, 1234, 1234) == 0)
      let error = #expect(throws: SecretError.self) { _ = try place.open() }
      #expect(error?.code == .accessDenied)
      #expect(error?.message.contains("chown 0 '\(file.filePath.trimmingSlash)'") == true)
      #expect(chown(file.filePath, 0, 0) == 0)
    }
    #expect(chown(place.url.filePath, 1234, 1234) == 0)
    #expect(errorCode { _ = try vault.text("anna") } == .accessDenied)
  }

  @Test func `the message tells the command`() throws {
    _ = try place.open()
    try place.url.setMode(0o644)
    let error = #expect(throws: SecretError.self) { _ = try place.open() }
    #expect(error?.message.contains("chmod 600 '\(place.url.filePath)'") == true)
  }

  /// The command is pasted into a shell, which took what stood behind a quotation mark for another command.
  @Test func `the command is one, whatever the path is`() throws {
    let url = place.directory.file("it's a'\u{301}; id/secrets.vault")
    func open() throws(SecretError) {
      _ = try Vault(
        at: url, key: .keyFile(place.keyFile), opening: .openOrCreate,
        environment: place.environment)
    }
    try open()
    try url.setMode(0o644)
    let error = #expect(throws: SecretError.self) { try open() }
    let command = try #require(error?.message.firstRange(of: "chmod")).lowerBound
    try ToolRun.text(["sh", "-c", String(try #require(error?.message[command...]))])
    #expect(try url.mode == 0o600)
    try open()
  }

  @Test func `what is no file is refused`() throws {
    try place.put(Data(), nil)
    try FileManager.default.removeItem(at: place.url)
    #expect(mkfifo(place.url.filePath, 0o600) == 0)
    for opening in Vault.Opening.allCases {
      #expect(errorCode { _ = try place.open(opening) } != nil)
    }
    #expect(errorCode { _ = try place.open() } == .accessDenied)
  }

  /// All links to a vault lead to one lock and one file, and stay links.
  @Test func `a link to a vault is followed`() throws {
    try place.open().set("geheim", "anna")
    let link = place.directory.file("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place.url)
    let vault = try Vault(
      at: link, key: .keyFile(place.keyFile), opening: .open, environment: place.environment)
    try vault.set("neu", "anna")
    #expect(link.isSymbolicLink)
    #expect(try place.open(.open).text("anna") == "neu")
    #expect(try place.directory.names == ["keys", "link", "state", "vault"])
  }

  /// The error was the system's number, without a remedy.
  @Test func `a vault that a link has replaced is refused until it is opened again`() throws {
    let vault = try place.open()
    try vault.set("geheim", "anna")
    let elsewhere = place.directory.file("elsewhere")
    try FileManager.default.moveItem(at: place.url, to: elsewhere)
    try FileManager.default.createSymbolicLink(at: place.url, withDestinationURL: elsewhere)
    let works = [{ _ = try vault.text("anna") }, { try vault.set("neu", "anna") }]
    for work in works {
      let error = try #require(throws: SecretError.self) { try work() }
      #expect(error.code == .accessDenied && error.message.contains("symbolic link has replaced"))
    }
    #expect(place.url.isSymbolicLink)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.directory.url.filePath).contains(
        "elsewhere"))
  }
}

extension String {
  fileprivate var trimmingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
