import Foundation
import SwiftData
import Testing

// Foundation on Linux has no comparator but `.lexical`, so that orders as apps write them did not
// compile.
@Suite struct LocalizedOrderTests {
  @Test func `numbers are read as numbers and case comes last`() throws {
    let names = ["b", "a10", "A9", "a9", "\u{E4}", "Z"]
    let store = try SampleStore(
      names.enumerated().map { index, name in Sample(number: index, text: name) })
    let order = SortDescriptor(\Sample.text, comparator: .localizedStandard)
    let found = try store.context.fetch(FetchDescriptor(sortBy: [order])).map(\.text)
    #expect(found == names.sorted(using: .localizedStandard))
    #expect(found == names.sorted { $0.localizedStandardCompare($1) == .orderedAscending })
    let last = try #require(found.last)
    #expect(last == "Z")
  }

  @Test func `comparators can be named, stored and reversed`() throws {
    let standard = String.StandardComparator.localizedStandard
    let reversed = LocalizedStringComparator(.localizedStandard, order: .reverse)
    #expect(standard.compare("a9", "a10") == .orderedAscending)
    #expect(reversed.compare("a9", "a10") == .orderedDescending)
    #expect(reversed != standard)
    let coded = try JSONDecoder().decode(
      LocalizedStringComparator.self, from: JSONEncoder().encode(reversed))
    #expect(coded == reversed)
    let descriptors: [SortDescriptor<Sample>] = [
      SortDescriptor(\.optionalText, comparator: .localized, order: .reverse),
      SortDescriptor(\.text, comparator: .lexical),
    ]
    #expect(descriptors.map(\.order) == [.reverse, .forward])
  }
}
