import Foundation
import SteadSecrets
import SteadSecretsTesting
import Testing

/// The file of the store for tests, which tests of apps read and prepare.
@Suite struct PlaintextTestStoreTests {
  private let directory: TemporaryDirectory
  private let secrets: Secrets
  private var file: URL { directory.file("secrets.json") }

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    secrets = try Secrets(
      service: "service", store: PlaintextTestStore(at: directory.file("secrets.json")))
  }

  @Test func `is JSON in the clear for its owner alone`() throws {
    try secrets.set("word", for: "anna", label: "Label", attributes: ["name": "value"])
    #expect(try file.mode == 0o600)
    let document = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    let items = (document as? [String: Any])?["items"] as? [[String: Any]]
    let item = try #require(items?.first)
    #expect(item["service"] as? String == "service")
    #expect(item["account"] as? String == "anna")
    #expect(item["label"] as? String == "Label")
    #expect(item["attributes"] as? [String: String] == ["name": "value"])
    #expect(item["secret"] as? String == Data("word".utf8).base64EncodedString())
    #expect(secrets.storeDescription.kind == .other("file in the clear"))
    #expect(secrets.storeDescription.reason.contains("can read the secrets"))
  }

  @Test func `reads a file that a test has written`() throws {
    let text = """
      {"version": 1, "items": [{"service": "service", "account": "bob", "label": "Bob",
        "attributes": {}, "secret": "\(Data("word".utf8).base64EncodedString())"}]}
      """
    try Data(text.utf8).write(to: file)
    #expect(try secrets.string(for: "bob") == "word")
    #expect(try secrets.item(for: "bob")?.created == nil)
  }

  @Test func `reading makes no file`() throws {
    #expect(try secrets.string(for: "anna") == nil)
    #expect(try secrets.items().isEmpty)
    #expect(try directory.names == [])
  }

  @Test(arguments: [
    ("", SecretError.Code.corrupt), ("{", .corrupt), ("{\"version\": 1}", .corrupt),
    ("{\"version\": 2}", .newerVersion),
  ])
  func `leaves a file that it cannot read as it is`(text: String, code: SecretError.Code) throws {
    try Data(text.utf8).write(to: file)
    for attempt in 0..<3 {
      let error = #expect(throws: SecretError.self) {
        switch attempt {
        case 0: _ = try secrets.string(for: "anna")
        case 1: try secrets.set("word", for: "anna")
        default: try secrets.removeAll()
        }
      }
      #expect(error?.code == code)
    }
    #expect(try Data(contentsOf: file) == Data(text.utf8))
  }
}
