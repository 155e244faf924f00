extension HTTPCache {
  /// What a cache is for its whole life: whose it is, and which requests are for the same resource.
  ///
  /// Give a cache another directory when its configuration changes: what was stored under the other one may be found, or
  /// take room until it goes.
  public struct Configuration: Sendable, Hashable {
    /// Whether the cache is a shared one (RFC 9111, 1.2.2), as of a proxy or a gateway, and answers many users. False by
    /// default.
    ///
    /// A shared cache obeys `s-maxage`, `proxy-revalidate` and `private`. It stores a response to a request with
    /// `Authorization` only if the response has `public`, `must-revalidate` or `s-maxage` (RFC 9111, 3.5), and then for
    /// all users; so it does one with `Set-Cookie` only if it has `public` or `s-maxage`, which the RFC leaves to
    /// caches. Responses that a private cache has stored in the same directory are not found.
    public var isShared: Bool
    /// The names of query parameters that don't count: requests whose URLs differ in nothing else get one another's
    /// responses. None by default.
    ///
    /// For URLs that are signed anew each time, such as `X-Amz-Signature`, `X-Amz-Date` and `X-Amz-Credential`, or that
    /// carry marks such as `utm_source`. Names are compared after percent-decoding, and by case. The server is sent the
    /// URL as it is.
    ///
    /// A signature that doesn't count is no permission: who has the rest of the URL gets the stored response, even with
    /// a signature that the server would refuse. So don't use this for signed URLs in a shared cache, or where users of
    /// one process have different rights.
    public var ignoredParameters: Set<String>

    /// Makes a configuration: of a private cache, for which all parameters count, unless told otherwise.
    public init(isShared: Bool = false, ignoredParameters: Set<String> = []) {
      self.isShared = isShared
      self.ignoredParameters = ignoredParameters
    }
  }
}
