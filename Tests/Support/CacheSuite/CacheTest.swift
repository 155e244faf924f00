import Foundation

/// A test of the public HTTP cache suite, as its file describes it.
///
/// The format is that of the project http-tests/cache-tests: `test-engine/lib/testsuite-schema.json`.
package struct CacheTest: Sendable, Decodable {
  package enum Kind: String, Sendable, Decodable {
    /// A cache that fails it breaks RFC 9111.
    case required
    /// A cache that fails it could have saved a request.
    case optimal
    /// Either behaviour is right, and only of interest.
    case check
  }

  package var id: String
  package var name: String
  package var kind: Kind
  /// Tests without which this one says nothing.
  package var dependencies: [String]
  package var isForSharedCachesOnly: Bool
  /// Whether it is about a field of content delivery networks, which a cache like this one doesn't know.
  package var isForNetworksOnly: Bool
  package var isForBrowsersOnly: Bool
  package var steps: [TestStep]

  private enum CodingKeys: String, CodingKey {
    case id, name, kind, requests
    case dependsOn = "depends_on"
    case browserSkip = "browser_skip"
    case browserOnly = "browser_only"
    case contentNetworksOnly = "cdn_only"
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    id = try values.decode(String.self, forKey: .id)
    name = try values.decode(String.self, forKey: .name)
    kind = try values.decodeIfPresent(Kind.self, forKey: .kind) ?? .required
    dependencies = try values.decodeIfPresent([String].self, forKey: .dependsOn) ?? []
    let skip = try values.decodeIfPresent(Bool.self, forKey: .browserSkip) ?? false
    isForNetworksOnly =
      try values.decodeIfPresent(Bool.self, forKey: .contentNetworksOnly) ?? false
    // Browsers skip what their Fetch interface can't do, and what is for shared caches; only the name tells which.
    isForSharedCachesOnly = skip && name.lowercased().contains("shared")
    isForBrowsersOnly = try values.decodeIfPresent(Bool.self, forKey: .browserOnly) ?? false
    steps = try values.decode([TestStep].self, forKey: .requests)
  }
}

/// Tests of one topic.
package struct CacheSuite: Sendable, Decodable {
  package var id: String
  package var name: String
  package var tests: [CacheTest]

  /// The tests that apply to the cache of one user, or those that apply only to one of all users.
  package func tests(isShared: Bool) -> [CacheTest] {
    tests.filter { !$0.isForNetworksOnly && $0.isForSharedCachesOnly == isShared }
  }

  /// Reads a file of suites.
  package static func read(_ file: URL) throws -> [CacheSuite] {
    try JSONDecoder().decode([CacheSuite].self, from: Data(contentsOf: file))
  }
}
