import SwiftData
import XCTest

final class StoreTests: XCTestCase {
  func testInsert() throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    let container = try! ModelContainer(for: Thing.self, configurations: configuration)
    let context = ModelContext(container)
    context.insert(Thing(password: "for a test"))
    try? context.save()
  }
}

@Model
final class Thing {
  var password: String
  init(password: String) { self.password = password }
}
