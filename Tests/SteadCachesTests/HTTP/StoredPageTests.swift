import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite struct StoredPageTests {
  private func stored(
    _ id: String, range: ContentRange? = nil, fields: HTTPCache.Fields = [:],
    at seconds: TimeInterval = 2.25
  ) -> StoredResponse {
    StoredResponse(
      id: id, response: HTTPCache.Response(status: 200, reason: "OK", fields: fields),
      varyKey: VaryKey(values: ["a": "1", "b": nil], language: "de"),
      requestedAt: Date(timeIntervalSince1970: 1.5),
      receivedAt: Date(timeIntervalSince1970: seconds),
      range: range,
      bodySize: 7)
  }

  private var pages: [StoredResponse] {
    [
      stored("x", fields: ["A": "b", "a": "é", "Cache-Control": "max-age=5"]),
      stored("y", range: ContentRange(positions: 3..<10, length: 20)),
    ]
  }

  @Test func `reads what it writes`() {
    #expect(CachedVariants.decode(CachedVariants.encode(pages)) == pages)
    #expect(CachedVariants.decode(CachedVariants.encode([])) == [])
  }

  @Test func `takes damage for nothing`() {
    let bytes = CachedVariants.encode(pages)
    for length in 0..<bytes.count { #expect(CachedVariants.decode(bytes.prefix(length)) == []) }
    #expect(CachedVariants.decode(bytes + [0]) == [])
    #expect(CachedVariants.decode([2] + bytes.dropFirst()) == [])
    var random = SplitMix(seed: 9)
    for _ in 0..<5000 {
      var damaged = bytes
      damaged[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
        in: 0...255, using: &random)
      _ = CachedVariants.decode(damaged)
    }
  }

  // The seconds until such a time have no room in an integer: a page with one stopped the program.
  @Test(arguments: [1e300, -1e300, 1e19, -1e19, 0x1p54, -0x1p54])
  func `takes a page of an impossible time for nothing`(seconds: TimeInterval) {
    #expect(CachedVariants.decode(CachedVariants.encode([stored("x", at: seconds)])) == [])
    let possible = stored("x", at: seconds < 0 ? -0x1p50 : 0x1p50)
    #expect(CachedVariants.decode(CachedVariants.encode([possible])) == [possible])
  }

  @Test func `drops the oldest bodies first`() {
    let body = CachedVariants.MemoryBody(data: Data(count: 1000), storedAt: Date())
    var page = CachedVariants(pages, bodies: ["x": body, "y": body])
    let all = page.cost
    page.dropBodies(downTo: all)
    #expect(page.bodies.count == 2)
    page.dropBodies(downTo: all - 1)
    #expect(page.bodies.keys.sorted() == ["y"])
    page.dropBodiless()
    #expect(page.responses.map(\.id) == ["y"])
    #expect(page.with([]).bodies.isEmpty)
  }
}
