import Testing

@testable import SteadCaches

@Suite struct HTTPFieldsTests {
  @Test func findsNamesInAnyCase() {
    var fields: HTTPCache.Fields = ["Vary": "a", "vary": "b", "ETag": "c"]
    #expect(fields["VARY"] == "a, b")
    #expect(fields.values(named: "Vary") == ["a", "b"])
    #expect(fields["etag"] == "c")
    #expect(fields["Var"] == nil)
    fields["VARY"] = "d"
    #expect(fields.map(\.name) == ["Vary", "ETag"])
    #expect(fields["vary"] == "d")
    fields["vary"] = nil
    #expect(!fields.contains("Vary"))
    fields["New"] = "e"
    fields.append("f", named: "new")
    #expect(fields["New"] == "e, f")
  }

  @Test func areEqualInAnyCaseOfNames() {
    let fields: HTTPCache.Fields = ["ETag": "a", "Vary": "b"]
    let same: HTTPCache.Fields = ["etag": "a", "VARY": "b"]
    #expect(fields == same)
    #expect(Set([fields, same]).count == 1)
    #expect(fields != ["ETag": "A", "Vary": "b"])
    #expect(fields != ["Vary": "b", "ETag": "a"])
    #expect(fields != ["ETag": "a"])
  }

  /// `@` and `` ` `` differ in the same bit as letters do.
  @Test func foldsLettersAlone() {
    #expect(!"x@".isSameFieldName(as: "x`"))
    #expect("x-Ab".isSameFieldName(as: "X-aB"))
    #expect("É".lowercasedASCII == "É")
  }
}
