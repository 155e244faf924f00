import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension URLSessionConfiguration {
  /// How long requests of tests wait, in seconds: far above what they take on a machine that does much else.
  static var patience: TimeInterval { 1_800 }

  /// As ``ephemeral``, for tests.
  static var patient: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = patience
    return configuration
  }
}
