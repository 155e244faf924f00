import Testing

@testable import SteadCaches

@Suite struct CacheControlTests {
  private func control(_ values: String..., isRequest: Bool = false) -> CacheControl {
    CacheControl(of: HTTPCache.Fields(values.map { ("cache-control", $0) }), isRequest: isRequest)
  }

  @Test(arguments: [
    ("max-age=60", 60), ("MaX-aGe=60", 60), ("max-age=\"60\"", 60), ("foo, max-age=60", 60),
    ("max-age=0060", 60), ("max-age=2147483648", 1 << 31),
    ("max-age=99999999999999999999", 1 << 31),
    ("max-age=-60", 0), ("max-age=60.5", 0), ("max-age='60'", 0), ("max-age=60a", 0),
    ("max-age=", 0),
    ("max-age", 0), ("max-age =60", 0), ("max-age= 60", 0), ("max-age=\"60\"x", 0),
    ("max-age=1800, max-age=1", 1), ("max-age=1, max-age=1800", 1),
    ("x=\"max-age=3600\", max-age=1", 1), ("x=\"a\\\", max-age=3\", max-age=7", 7),
    (",, ,max-age=5,", 5), ("\tmax-age=5\t", 5),
  ])
  func `reads max-age and never too much`(value: String, seconds: Int) {
    #expect(control(value).maxAge == seconds)
  }

  @Test(arguments: [
    "", "s-maxage=60", "x=\"max-age=60\"", "maxage=60", "max-agee=60", "max age=60",
  ])
  func `finds no max-age in other directives`(value: String) {
    #expect(control(value).maxAge == nil)
  }

  /// A quote that is never closed must not hide what follows.
  @Test(arguments: [
    "no-store", "No-StOrE", "a=\"b, no-store", "no-store=1", "x,no-store;y", "\"a, no-store",
  ])
  func `finds no-store in any company`(value: String) {
    #expect(control(value).hasNoStore)
  }

  @Test func `joins lines`() {
    let joined = control("s-maxage=3600", "max-age=1", "no-cache=\"A, b\"")
    #expect(joined.maxAge == 1)
    #expect(joined.noCacheFields == ["a", "b"])
    #expect(!joined.hasNoCache)
    #expect(control("no-cache=\"\"").hasNoCache)
    #expect(control("no-cache=\"a\", no-cache").hasNoCache)
  }

  @Test func `reads the other directives`() {
    let all = control(
      "public, must-revalidate, must-understand, immutable, stale-while-revalidate=5, stale-if-error=\"6\""
    )
    #expect(all.isPublic && all.mustRevalidate && all.mustUnderstand && all.isImmutable)
    #expect(all.staleWhileRevalidate == 5)
    #expect(all.staleIfError == 6)
    let request = control("only-if-cached, min-fresh=7, max-stale", isRequest: true)
    #expect(request.onlyIfCached)
    #expect(request.minFresh == 7)
    #expect(request.maxStale == CacheControl.longest)
    #expect(control("max-stale=8").maxStale == 8)
    #expect(control("max-stale=x").maxStale == 0)
    #expect(control("min-fresh=x").minFresh == CacheControl.longest)
  }

  @Test func `takes Pragma of a request without Cache-Control`() {
    #expect(CacheControl(of: ["Pragma": "x, No-Cache"], isRequest: true).hasNoCache)
    #expect(
      !CacheControl(of: ["Pragma": "no-cache", "Cache-Control": "x"], isRequest: true).hasNoCache)
    #expect(!CacheControl(of: ["Pragma": "no-cache"]).hasNoCache)
  }
}
