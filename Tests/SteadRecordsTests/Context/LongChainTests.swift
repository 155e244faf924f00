import SwiftData
import Testing

@Model final class Link {
  var number: Int
  @Relationship(inverse: \Link.previous) var next: Link?
  var previous: Link?
  init(number: Int) { self.number = number }
}

@Suite struct LongChainTests {
  /// Inserting the head of a chain took in each object inside the call for the one before it, which
  /// ran out of stack with a few thousand of them under the address sanitizer.
  @Test func `a chain of any length is inserted`() throws {
    let count = 20_000
    let container = try ModelContainer(
      for: Link.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let links = (0..<count).map { Link(number: $0) }
    for (link, next) in zip(links, links.dropFirst()) { link.next = next }
    context.insert(links[0])
    try context.save()
    #expect(links.allSatisfy { $0.modelContext === context })
    #expect(links[count - 1].previous === links[count - 2])
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Link>()) == count)
  }
}
