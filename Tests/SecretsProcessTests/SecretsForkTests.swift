import Foundation
import Testing

/// The child of a fork goes on with the store that its parent has opened, also when other threads of the
/// parent were in the middle of something.
struct SecretsForkTests {
  @Test(arguments: SharedStore.allCases)
  func childrenUseTheStore(_ store: SharedStore) throws {
    let (children, count) = (8, 10)
    let directory = try TemporaryDirectory(inMemory: true)
    let worker = try Worker(store, directory.url, ["fork", "\(children)", "\(count)"])
    let lines = worker.rest()
    #expect(worker.finish() == 0)
    let expected = ["parent done"] + (0..<children).map { "child \($0) done" }
    #expect(lines.sorted() == expected.sorted())
    let contents = try Worker.contents(store, directory.url)
    for child in 0..<children {
      for number in 0..<count { #expect(contents["child\(child).\(number)"] == "\(number)") }
      #expect(contents["parent.\(child)"] == "\(child)")
    }
    #expect(contents["before"] == "from before")
    #expect(contents.count == 2 + children * (count + 1))
  }
}
