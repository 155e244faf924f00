#if !canImport(FoundationNetworking)
  // Not run on this project's machines.
  public import Foundation

  /// Foundation's own: Apple's `URLCache` does what this library promises.
  public typealias ResponseCache = URLCache
#endif
