import Foundation
import Testing

@testable import SteadCaches

@Suite struct SelectionTests {
  private func request(_ fields: HTTPCache.Fields) throws -> HTTPCache.Request {
    HTTPCache.Request(url: try #require(URL(string: "http://a.example/")), fields: fields)
  }

  private func matches(
    _ stored: HTTPCache.Fields, _ vary: HTTPCache.Fields, _ new: HTTPCache.Fields
  ) throws -> Bool {
    try #require(VaryKey(of: request(stored), for: vary)).matches(request(new))
  }

  @Test func comparesTheFieldsThatVaryNames() throws {
    let vary: HTTPCache.Fields = ["Vary": "Foo, bar"]
    #expect(try matches(["foo": "1", "Other": "2"], vary, ["Foo": "1", "Other": "3"]))
    #expect(try !matches(["foo": "1"], vary, ["foo": "2"]))
    #expect(try !matches(["foo": "1"], vary, [:]))
    #expect(try !matches([:], vary, ["foo": "1"]))
    #expect(try !matches(["foo": "1"], vary, ["foo": "1", "bar": ""]))
    #expect(try matches(["foo": "1, 2"], vary, ["foo": "1", "Foo": " 2 "]))
    #expect(try !matches(["foo": "a"], vary, ["foo": "A"]))
  }

  @Test(arguments: ["*", "*, *", ", *", "Foo, *"])
  func matchesNothingWithAStar(vary: String) throws {
    #expect(VaryKey(of: try request([:]), for: ["Vary": vary]) == nil)
  }

  @Test func readsTheMeaningOfLanguages() throws {
    let vary: HTTPCache.Fields = ["Vary": "Accept-Language", "Content-Language": "DE"]
    let (name, stored): (String, HTTPCache.Fields) = (
      "Accept-Language", ["Accept-Language": "en, de"]
    )
    for same in ["de, en", "eN ,  De", "en;q=1, de;q=1.0"] {
      #expect(try matches(stored, ["Vary": name], [name: same]), "\(same)")
    }
    #expect(try !matches(stored, ["Vary": name], [name: "en;q=0.5, de"]))
    // The stored one is in German, and German is wanted most.
    #expect(try matches(stored, vary, [name: "fr;q=0.5, de"]))
    #expect(try !matches(stored, vary, [name: "fr, de;q=0.5"]))
    #expect(try !matches(stored, vary, [name: "fr, de"]))
    // No language is wanted, least of all German.
    #expect(try !matches(stored, vary, [name: "de;q=0"]))
  }

  /// What one account was sent is never used for another, whatever `Vary` says.
  @Test func keepsAccountsApart() throws {
    #expect(try matches(["Authorization": "A"], [:], ["authorization": "A"]))
    #expect(try !matches(["Authorization": "A"], [:], ["Authorization": "B"]))
    #expect(try !matches(["Authorization": "A"], [:], [:]))
    #expect(try !matches([:], [:], ["Authorization": "A"]))
  }

  @Test func keepsHostsApart() throws {
    #expect(try matches([:], [:], ["Host": "A.example"]))
    #expect(try matches(["Host": "a.example:80"], [:], [:]))
    #expect(try matches(["Host": "b.example"], [:], ["host": "B.example"]))
    #expect(try !matches(["Host": "b.example"], [:], [:]))
    #expect(try !matches([:], [:], ["Host": "b.example"]))
    #expect(try !matches([:], ["Vary": "Host"], ["Host": "a.example:81"]))
    #expect(try !matches(["Host": "b.example"], [:], ["Host": "c.example"]))
  }

  @Test func keepsNoSecret() throws {
    let fields: HTTPCache.Fields = ["Authorization": "Bearer secret", "Cookie": "id=secret"]
    let varyKey = try #require(VaryKey(of: request(fields), for: ["Vary": "Cookie"]))
    #expect(varyKey.values.count == 2)
    #expect(!"\(varyKey)".contains("secret"))
  }
}
