import Foundation
import SteadSecrets
import Testing

/// What every store does in the same way.
@Suite struct StoreConformance {
  // MARK: Reading and writing

  @Test(arguments: TestedStore.all)
  func `gives back what was kept`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    let data = Data([0, 1, 0, 255, 0])
    try secrets.set(data, for: "data")
    try secrets.set("pass wörd 🔑", for: "text")
    try secrets.set([7, 8, 9], for: "bytes")
    try secrets.set(SecretBytes("held"), for: "held")

    #expect(try secrets.data(for: "data") == data)
    #expect(try secrets.string(for: "text") == "pass wörd 🔑")
    #expect(try secrets.bytes(for: "bytes") == SecretBytes(Data([7, 8, 9])))
    #expect(try secrets.withBytes(for: "held") { Array($0) } == Array("held".utf8))
    #expect(try secrets.contains("text"))
    #expect(try secrets.item(for: "text")?.account == "text")
    #expect(try secrets.items().count == 4)
  }

  @Test(arguments: TestedStore.all)
  func `tells of nothing by nil and false`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    #expect(try secrets.bytes(for: "a") == nil)
    #expect(try secrets.data(for: "a") == nil)
    #expect(try secrets.string(for: "a") == nil)
    #expect(try secrets.value(Int.self, for: "a") == nil)
    #expect(try secrets.withBytes(for: "a") { _ in true } == nil)
    #expect(try secrets.item(for: "a") == nil)
    #expect(try secrets.contains("a") == false)
    #expect(try secrets.items().isEmpty)
    #expect(try secrets.accounts().isEmpty)
    #expect(try secrets.remove("a") == false)
    #expect(try secrets.removeAll() == 0)
    #expect(try secrets.state() == .ready)
  }

  @Test(arguments: TestedStore.all)
  func `replaces what was there`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    try secrets.set("a longer first secret", for: "a")
    try secrets.set("second", for: "a")
    #expect(try secrets.string(for: "a") == "second")
    #expect(try secrets.accounts() == ["a"])
  }

  @Test(arguments: TestedStore.all)
  func `removes one and all`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    for account in ["a", "b", "c"] { try secrets.set(account, for: account) }
    #expect(try secrets.remove("b"))
    #expect(try secrets.remove("b") == false)
    #expect(try secrets.string(for: "b") == nil)
    #expect(try secrets.accounts() == ["a", "c"])
    #expect(try secrets.removeAll() == 2)
    #expect(try secrets.accounts() == [])
    #expect(try secrets.string(for: "a") == nil)
  }

  @Test(arguments: TestedStore.all)
  func `keeps services apart`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let (first, second) = (try place.secrets("first"), try place.secrets("first.second"))
    try first.set("of the first", for: "a")
    try second.set("of the second", for: "a")
    #expect(try first.string(for: "a") == "of the first")
    #expect(try second.string(for: "a") == "of the second")
    #expect(try first.items().map(\.service) == ["first"])
    #expect(try first.removeAll() == 1)
    #expect(try first.contains("a") == false)
    #expect(try second.string(for: "a") == "of the second")
  }

  /// As the parts of one program, or two programs, have it.
  @Test(arguments: TestedStore.all)
  func `shows what another store of the place wrote`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let (one, other) = (try place.secrets(), try place.secrets())
    #expect(try one.string(for: "a") == nil)
    #expect(try other.string(for: "a") == nil)
    for round in 0..<5 {
      try one.set("one \(round)", for: "a")
      #expect(try other.string(for: "a") == "one \(round)")
      try other.replace("one \(round)", with: "other \(round)", for: "a")
      #expect(try one.string(for: "a") == "other \(round)")
      #expect(throws: SecretError.self) { try one.replace("one \(round)", with: "x", for: "a") }
    }
    try other.set("new", for: "b", label: "new label")
    #expect(try one.items().map(\.account) == ["a", "b"])
    #expect(try one.item(for: "b")?.label == "new label")
    try one.remove("b")
    #expect(try other.item(for: "b") == nil)
  }

  @Test(arguments: TestedStore.all)
  func `keeps what it has when it is opened anew`(_ tested: TestedStore) throws {
    let place = try tested.place()
    var store: (any SecretStore)? = try place.open()
    guard store?.features.contains(.persistence) == true else { return }
    try Secrets(service: "service", store: #require(store)).set(
      "kept", for: "a", label: "label", attributes: ["name": "value"])
    store = nil
    let secrets = try place.secrets("service")
    #expect(try secrets.string(for: "a") == "kept")
    let item = try #require(try secrets.item(for: "a"))
    #expect(item.label == "label" && item.attributes == ["name": "value"])
  }

  @Test(arguments: TestedStore.all)
  func `says nothing of locks where there is none`(_ tested: TestedStore) async throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    guard !secrets.store.features.contains(.locking) else { return }
    let locked = #expect(throws: SecretError.self) { try secrets.lock() }
    #expect(locked?.feature == .locking)
    let unlocked = await #expect(throws: SecretError.self) { try await secrets.unlock() }
    #expect(unlocked?.feature == .locking)
  }

  // MARK: Conditions

  @Test(arguments: TestedStore.all)
  func `inserts only what is not there`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    try secrets.insert("first", for: "a", label: "first")
    let error = #expect(throws: SecretError.self) {
      try secrets.insert("second", for: "a", label: "second")
    }
    #expect(error?.code == .duplicateItem)
    #expect(error?.service == secrets.service && error?.account == "a")
    #expect(try secrets.string(for: "a") == "first")
    #expect(try secrets.items().map(\.label) == ["first"])
    try secrets.remove("a")
    try secrets.insert("third", for: "a")
    #expect(try secrets.string(for: "a") == "third")
  }

  @Test(arguments: TestedStore.all)
  func `updates only what is there`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    let error = #expect(throws: SecretError.self) { try secrets.update("first", for: "a") }
    #expect(error?.code == .notFound)
    #expect(error?.service == secrets.service && error?.account == "a")
    #expect(try secrets.contains("a") == false)
    try secrets.set("first", for: "a")
    try secrets.update("second", for: "a")
    #expect(try secrets.string(for: "a") == "second")
  }

  @Test(arguments: TestedStore.all)
  func `replaces only what is expected`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    let missing = #expect(throws: SecretError.self) {
      try secrets.replace("", with: "b", for: "a")
    }
    #expect(missing?.code == .changed)
    #expect(try secrets.contains("a") == false)

    try secrets.set("first", for: "a", label: "label", attributes: ["name": "value"])
    try secrets.replace("first", with: Data("second".utf8), for: "a")
    #expect(try secrets.string(for: "a") == "second")
    #expect(try secrets.item(for: "a")?.label == "label")
    for expected in ["first", "", "secon", "second "] {
      let error = #expect(throws: SecretError.self) {
        try secrets.replace(expected, with: "third", for: "a", label: "other")
      }
      #expect(error?.code == .changed)
    }
    #expect(try secrets.string(for: "a") == "second")
    #expect(try secrets.item(for: "a")?.label == "label")
    #expect(try secrets.item(for: "a")?.attributes == ["name": "value"])
  }
}
