import Foundation
import SteadFiles

/// The fields of a request that chose a response among those of its URL (RFC 9111, 4.1).
///
/// In a private cache `Authorization` always is one of them, named by `Vary` or not: what one account was sent is never
/// used for another. A shared cache only stores what is for all accounts. A `Host` that isn't the URL's always counts,
/// too. Values of fields that carry secrets are kept as digests.
struct Selection: Sendable, Hashable {
  /// Names in lower case, in order, and normalized values; nil for a field that the request did not have.
  private(set) var values: [String: String?]
  /// The response's `Content-Language`, in lower case.
  let language: String?

  private static let acceptLanguage = "accept-language"
  private static let hostName = "host"
  private static let secrets: Set<String> = ["authorization", "cookie", "proxy-authorization"]

  /// What chose a response; nil if its `Vary` has a `*`, since no later request can match then.
  init?(of request: HTTPCache.Request, for response: HTTPCache.Fields, isShared: Bool = false) {
    let names = response.values(named: "Vary").flatMap { FieldScanner.members(of: $0) }
    guard !names.contains("*") else { return nil }
    var values: [String: String?] = [:]
    for name in names.map(\.lowercasedASCII) + (isShared ? [] : ["authorization"]) {
      values[name] = .some(Self.value(of: name, in: request))
    }
    if let host = Self.otherHost(of: request) { values[Self.hostName] = host }
    self.init(values: values, language: response["Content-Language"]?.lowercasedASCII)
  }

  init(values: [String: String?], language: String?) {
    self.values = values
    self.language = language
  }

  /// Whether the response may answer a request.
  func matches(_ request: HTTPCache.Request) -> Bool {
    (values[Self.hostName] ?? nil) == Self.otherHost(of: request)
      && values.allSatisfy { name, stored in
        Self.value(of: name, in: request) == stored
          || name == Self.acceptLanguage && isPreferred(by: request.fields[name])
      }
  }

  /// Whether the response is in the one language that an `Accept-Language` likes best.
  private func isPreferred(by value: String?) -> Bool {
    guard let language, let value else { return false }
    let preferences = Self.preferences(in: value)
    guard let first = preferences.first, first.name == language, first.quality > 0 else {
      return false
    }
    return preferences.dropFirst().allSatisfy { $0.quality < first.quality }
  }

  /// The `Host` of a request, if it isn't the URL's.
  private static func otherHost(of request: HTTPCache.Request) -> String? {
    guard let host = request.fields[hostName]?.lowercasedASCII, let key = CacheKey(request.url)
    else { return nil }
    let scheme = key.origin.prefix { $0 != ":" }
    let named = URL(string: "\(scheme)://\(host)/").flatMap { CacheKey($0) }
    return named?.origin == key.origin ? nil : host
  }

  private static func value(of name: String, in request: HTTPCache.Request) -> String? {
    guard name != hostName else { return otherHost(of: request) }
    guard let value = request.fields[name] else { return nil }
    switch name {
    case acceptLanguage, "accept-encoding", "accept-charset":
      return preferences(in: value).map { "\($0.name);\($0.quality)" }.joined(separator: ",")
    case _ where secrets.contains(name): return SHA256.hexadecimal(Data(value.utf8))
    default: return FieldScanner.members(of: value).joined(separator: ",")
    }
  }

  /// The members of a list with weights, the most preferred first, equally preferred ones by name.
  private static func preferences(in value: String) -> [(name: String, quality: Double)] {
    FieldScanner.members(of: value.lowercasedASCII).map { member in
      let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap {
        Double($0.dropFirst(2))
      }
      return (parts.first ?? "", quality.map { $0.isFinite ? $0 : 0 } ?? 1)
    }
    .sorted { $0.quality != $1.quality ? $0.quality > $1.quality : $0.name < $1.name }
  }
}
