/// A required test that isn't passed, with the reason.
package struct SuiteException: Sendable {
  package var id: String
  package var reason: String

  /// Those of `HTTPCache`.
  package static let ofCache = [
    SuiteException(
      id: "stale-close-must-revalidate",
      reason: "The error of the network is thrown; the suite wants a response with an error status."
    ),
    SuiteException(
      id: "stale-close-no-cache",
      reason: "The error of the network is thrown; the suite wants a response with an error status."
    ),
    SuiteException(
      id: "interim-not-cached",
      reason: "Interim responses are not passed on, and the suite wants the client to get them."),
  ]

  /// Those of `HTTPCache` as a shared cache.
  package static let ofSharedCache = ["stale-close-proxy-revalidate", "stale-close-s-maxage=2"].map
  {
    SuiteException(
      id: $0,
      reason: "The error of the network is thrown; the suite wants a response with an error status."
    )
  }

  /// Those of URLSession off Apple's systems, beside the cache's.
  package static let ofSession = [
    SuiteException(
      id: "headers-store-Content-Encoding",
      reason: "libcurl, under URLSession, refuses a Content-Encoding that it doesn't know."),
    SuiteException(
      id: "headers-store-Transfer-Encoding",
      reason: "libcurl, under URLSession, refuses a Transfer-Encoding that it doesn't know."),
  ]
}

extension SuiteResults {
  /// Whether a test was run and not passed.
  package func isFailed(_ id: String) -> Bool { outcomes[id] != nil && !isPassed(id) }

  /// The required tests that were not passed, without the exceptions.
  package func unexpectedFailures(
    but exceptions: [SuiteException] = []
  ) -> [(id: String, reason: String)] {
    failures(.required).filter { failure in !exceptions.contains { $0.id == failure.id } }
  }
}
