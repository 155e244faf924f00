import Foundation
import Testing

@testable import SteadSecrets

@Suite struct StoreRecordTests {
  private let directory: TemporaryDirectory
  private let file: StoreRecordFile
  private let record = StoreRecord(
    service: "org.example.Notes", address: .vault,
    since: Date(timeIntervalSince1970: 1_800_000_000),
    reason: "There was no bus.", leftover: StoreAddress(kind: .secretService, location: "login"))

  init() throws {
    directory = try TemporaryDirectory()
    file = StoreRecordFile(
      service: "org.example.Notes", in: directory.url.appending(path: "config/stead/secrets"))
  }

  @Test func `what is written is read`() throws {
    #expect(try file.read() == nil)
    #expect(try file.stamp() == nil)
    try file.create(record)
    #expect(try file.read() == record)
    #expect(try file.url.mode == 0o600)
    #expect(try file.url.deletingLastPathComponent().mode == 0o700)
  }

  @Test func `the file is the one that is documented`() throws {
    var record = record
    record.leftover = nil
    try file.create(record)
    let text = try String(contentsOf: file.url, encoding: .utf8)
    #expect(
      text == """
        {
          "place" : {
            "kind" : "vault"
          },
          "reason" : "There was no bus.",
          "service" : "org.example.Notes",
          "since" : "2027-01-15T08:00:00Z",
          "version" : 1
        }

        """)
  }

  @Test func `a first record never replaces another`() throws {
    try file.create(record)
    var other = record
    other.address = .secretService
    #expect(errorCode { try file.create(other) } == .changed)
    #expect(try file.read() == record)
  }

  @Test func `a stamp tells one record from the next`() throws {
    try file.create(record)
    let first = try file.stamp()
    #expect(try file.stamp() == first)
    try file.replace(with: record)
    #expect(try file.stamp() != first)
  }

  @Test(arguments: [
    ("", SecretError.Code.corrupt),
    ("{}", .corrupt),
    ("{\"version\": 2}", .newerVersion),
    ("{\"version\": 0}", .corrupt),
    (
      """
      {"version": 1, "service": "org.example.Other", "place": {"kind": "vault"},
      "since": "2027-01-15T08:00:00Z", "reason": ""}
      """, .corrupt
    ),
    (
      """
      {"version": 1, "service": "org.example.Notes", "place": {"kind": "cupboard"},
      "since": "2027-01-15T08:00:00Z", "reason": ""}
      """, .corrupt
    ),
  ])
  func `a record that says nothing is refused`(
    _ text: String, _ expected: SecretError.Code
  ) throws {
    try file.create(record)
    try Data(text.utf8).write(to: file.url)
    #expect(errorCode { try file.read() } == expected)
  }

  @Test func `a record that others could have written is refused`() throws {
    try file.create(record)
    try file.url.setMode(0o620)
    #expect(errorCode { try file.read() } == .accessDenied)
    try file.url.setMode(0o644)
    #expect(try file.read() == record)
  }

  @Test func `a very long file is refused`() throws {
    try file.create(record)
    try Data(count: StoreRecord.sizeLimit + 1).write(to: file.url)
    #expect(errorCode { try file.read() } == .failed)
  }

  @Test(arguments: [
    ("org.example.Notes", "org.example.Notes"),
    ("git:https://example.org/a", "git%3Ahttps%3A%2F%2Fexample.org%2Fa"),
    ("..", "%2E."),
    (".hidden", "%2Ehidden"),
    ("a%2Fb", "a%252Fb"),
    ("Ä", "%C3%84"),
  ])
  func `a file is named after its service`(_ service: String, _ name: String) {
    #expect(StoreRecordFile.stem(service) == name)
  }

  @Test func `long names are hashed`() {
    let long = String(repeating: "n", count: 201)
    let other = String(repeating: "n", count: 202)
    #expect(StoreRecordFile.stem(long).utf8.count < 255)
    #expect(StoreRecordFile.stem(long) != StoreRecordFile.stem(other))
    #expect(!StoreRecordFile.stem(String(repeating: "n", count: 200)).contains("sha256"))
  }
}
