import ExampleSupport
import ShelfKit
import SwiftData
import Testing

@Suite struct ShelfTests {
  private let text = """
    Package: one
    Status: install ok installed
    Section: libs
    Depends: two (>= 2)

    Package: two
    Status: install ok installed
    """

  @Test func `connects packages on the shelf`() throws {
    let container = try ModelContainer(
      for: Package.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    try Shelf(ModelContext(container)).add(DebianStatus.parse(text))
    let context = ModelContext(container)
    let two = try #require(
      try context.fetch(FetchDescriptor<Package>(predicate: #Predicate { $0.name == "two" })).first)
    #expect(two.satisfies.map { $0.owner?.name } == ["one"])
    #expect(two.satisfies.first?.owner?.section?.packages.count == 1)
  }
}
