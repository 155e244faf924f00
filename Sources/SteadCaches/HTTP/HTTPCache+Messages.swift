public import Foundation

extension HTTPCache {
  /// A client's request, as far as a cache is concerned.
  ///
  /// ```swift
  /// let request = HTTPCache.Request(url: url, fields: ["Accept": "application/json"])
  /// ```
  ///
  /// Two requests are equal, and may share one fetch, if all their properties are. The body isn't
  /// part of it: the closure that fetches sends it.
  public struct Request: Sendable, Hashable {
    /// The method, such as `GET`, which is case-sensitive.
    public var method: String
    /// The URL, with scheme and host; the fragment has no meaning for a cache.
    public var url: URL
    /// The header fields, which must include all that the server's answer can depend on.
    public var fields: Fields
    /// Whether the request has a body. Requests with one are never answered from the cache.
    public var hasBody: Bool

    /// Makes a request: a GET without fields and without a body, unless told otherwise.
    public init(
      method: String = "GET", url: URL, fields: Fields = [:], hasBody: Bool = false
    ) {
      self.method = method
      self.url = url
      self.fields = fields
      self.hasBody = hasBody
    }
  }

  /// The head of a server's final response.
  public struct Response: Sendable, Hashable {
    /// The status code, such as 200.
    public var status: Int
    /// The reason phrase, which only HTTP/1.1 has.
    public var reason: String?
    /// The header fields.
    public var fields: Fields
    /// Whether the client has decoded the body's `Content-Encoding` and removed that field. The
    /// server's `ETag` and ranges are those of the encoded body, so no ranges are cut from a
    /// decoded one. False by default.
    public var isDecoded = false

    /// Makes the head of a response, with the fields as the server sent them.
    public init(status: Int, reason: String? = nil, fields: Fields = [:]) {
      self.status = status
      self.reason = reason
      self.fields = fields
    }
  }

  /// A response as the cache returns it to its caller.
  public struct Reply: Sendable {
    /// The head, with an `Age` if the response was stored.
    public var response: Response
    /// The body.
    public var body: Body
    /// What the cache did for it.
    public var outcome: Outcome
    /// The bytes of the body that came from the store, for ``Statistics/bytesSaved``.
    var savedSize = 0
    /// The revalidation that this reply's request started in the background.
    var revalidation: Revalidation?

    /// Makes a reply; the cache does, and tests of programs may.
    public init(response: Response, body: Body, outcome: Outcome) {
      self.response = response
      self.body = body
      self.outcome = outcome
    }

    /// Waits until the revalidation that this reply's request started in the background
    /// (`stale-while-revalidate`) has its response, or has failed. The request's `fetch` isn't
    /// called any more then.
    ///
    /// It is for a `fetch` that can't outlive its caller, for example one that calls a server's
    /// route:
    ///
    /// ```swift
    /// let reply = try await cache.response(to: request) { try await route($0) }
    /// await reply.waitForRevalidation()
    /// return reply  // `route` isn't called after this.
    /// ```
    ///
    /// It returns at once if the request started no revalidation, also because another request had
    /// already started it, and when the task is cancelled. The body may still be being received; it
    /// is stored once it is complete (``HTTPCache/finishRevalidations()`` waits for it). If the
    /// response is removed first, nothing is sent.
    public func waitForRevalidation() async { await revalidation?.isAnswered.wait() }
  }

  // MARK: - Outcomes

  /// What the cache did to answer a request.
  public struct Outcome: Sendable, Hashable {
    /// Where a response came from, to compare with.
    public struct Source: Hashable, Sendable, CustomStringConvertible {
      private let name: String
      private init(_ name: String) { self.name = name }

      /// A stored response that was fresh.
      public static let hit = Source("hit")
      /// A stored response that was stale, and allowed nevertheless.
      public static let stale = Source("stale")
      /// A stored response that the server confirmed with a 304.
      public static let revalidated = Source("revalidated")
      /// The server, since no stored response could be used.
      public static let miss = Source("miss")
      /// The server, since the request's method or the caller rules out a stored response.
      public static let bypass = Source("bypass")
      /// The cache itself: a 504 for a request with `only-if-cached`.
      public static let unavailable = Source("unavailable")

      /// The source's name.
      public var description: String { name }
    }

    /// Where the response came from.
    public var source: Source
    /// How old the response was when it was returned, in seconds; nil for one that the server just
    /// sent.
    public var age: Int?
    /// For how many seconds the response remains fresh; negative once it is stale, nil if it is not
    /// stored.
    public var freshness: Int?
    /// The status of the server's answer, if it was asked.
    public var forwardStatus: Int?
    /// Whether the server's answer is stored, or will be once its body is complete, as far as its
    /// head and the limits say: one whose length isn't known may turn out too long, and a disk may
    /// be full by then.
    public var isStored = false
    /// Whether another request's answer was shared.
    public var isShared = false
    /// Whether the server was asked in vain, and a stored response took the place of its answer.
    var hasFailed = false

    /// Makes an outcome.
    public init(source: Source, age: Int? = nil) {
      self.source = source
      self.age = age
    }

    /// The equivalent value of a `Cache-Status` field (RFC 9211).
    ///
    /// - Parameter cache: The cache's name, a token such as `stead`.
    public func cacheStatus(named cache: String = "stead") -> String {
      var value = cache
      let forward = forwardReason
      if let forward {
        value += "; fwd=\(forward)"
        if let forwardStatus { value += "; fwd-status=\(forwardStatus)" }
      } else if source != .unavailable {
        value += "; hit"
      }
      if let freshness { value += "; ttl=\(freshness)" }
      if forward != nil, isStored { value += "; stored" }
      if forward != nil, isShared { value += "; collapsed" }
      return value
    }

    /// Why the request, or the one whose answer it shared, went to the server (RFC 9211, 2.2); nil
    /// if none did.
    private var forwardReason: String? {
      switch source {
      case .unavailable: nil
      case .stale where hasFailed: "stale"
      case .hit where isShared, .stale where isShared: "miss"
      case .hit: nil
      case .stale: forwardStatus == nil ? nil : "stale"
      case .revalidated: "stale"
      case .bypass: "bypass"
      default: age == nil ? "miss" : "stale"
      }
    }
  }

  // MARK: - Fields

  /// Header fields in order; names are compared without regard to case.
  ///
  /// A name may occur more than once, as `Set-Cookie` does. Finding a field takes time in
  /// proportion to their number, which is small in a response.
  public struct Fields: Sendable, Hashable {
    /// One line of a header.
    public struct Field: Sendable, Hashable {
      /// The name as it was written.
      public var name: String
      /// The value without the whitespace around it.
      public var value: String

      /// Makes a field of a name and a value.
      public init(name: String, value: String) {
        self.name = name
        self.value = value
      }

      /// Whether two fields have the same name, in any case, and the same value.
      public static func == (one: Field, other: Field) -> Bool {
        one.name.isSameFieldName(as: other.name) && one.value == other.value
      }

      /// Hashes the name, in any case, and the value.
      public func hash(into hasher: inout Hasher) {
        hasher.combine(name.lowercasedASCII)
        hasher.combine(value)
      }
    }

    private var fields: [Field]

    /// Makes fields of names and values.
    public init(_ fields: some Sequence<(name: String, value: String)> = []) {
      self.fields = fields.map { Field(name: $0.name, value: $0.value) }
    }

    /// Makes fields from the fields of a message.
    public init(_ fields: [Field]) { self.fields = fields }

    /// The value of a name; the values of a name that occurs more than once are joined with commas.
    ///
    /// Setting a value replaces all fields of the name; setting nil removes them.
    public subscript(name: String) -> String? {
      get {
        var joined: String?
        for field in fields where field.name.isSameFieldName(as: name) {
          joined = joined.map { "\($0), \(field.value)" } ?? field.value
        }
        return joined
      }
      set {
        let index = fields.firstIndex { $0.name.isSameFieldName(as: name) }
        guard let newValue else { return removeAll(named: name) }
        guard let index else { return append(newValue, named: name) }
        fields[index].value = newValue
        let rest = fields[(index + 1)...].filter { !$0.name.isSameFieldName(as: name) }
        fields.replaceSubrange((index + 1)..., with: rest)
      }
    }

    /// The values of a name, one for each occurrence.
    public func values(named name: String) -> [String] {
      fields.compactMap { $0.name.isSameFieldName(as: name) ? $0.value : nil }
    }

    /// Whether a name occurs.
    public func contains(_ name: String) -> Bool {
      fields.contains { $0.name.isSameFieldName(as: name) }
    }

    /// Adds a field after the others, even if its name already occurs.
    public mutating func append(_ value: String, named name: String) {
      fields.append(Field(name: name, value: value))
    }

    /// Removes all fields of a name.
    public mutating func removeAll(named name: String) {
      fields.removeAll { $0.name.isSameFieldName(as: name) }
    }

    /// Removes the fields that a closure chooses.
    public mutating func removeAll(where isUnwanted: (Field) throws -> Bool) rethrows {
      try fields.removeAll(where: isUnwanted)
    }
  }
}

extension HTTPCache.Fields: RandomAccessCollection {
  /// The first field's index, 0.
  public var startIndex: Int { 0 }
  /// The number of fields.
  public var endIndex: Int { fields.count }
  /// The field at an index.
  public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPCache.Fields: ExpressibleByDictionaryLiteral {
  /// Makes fields of names and values, which may repeat a name.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field(name: $0.0, value: $0.1) })
  }
}

extension String {
  /// Whether two names of fields differ in the case of ASCII letters at most.
  func isSameFieldName(as other: String) -> Bool {
    let (one, two) = (utf8, other.utf8)
    return one.count == two.count
      && zip(one, two).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
  }

  /// The string with ASCII letters in lower case, whatever else it holds.
  var lowercasedASCII: String {
    utf8.contains { $0 != $0.lowercasedASCII }
      ? String(decoding: utf8.map(\.lowercasedASCII), as: UTF8.self) : self
  }
}

extension UInt8 {
  /// The byte of a letter in lower case, or the byte itself.
  var lowercasedASCII: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }
}
