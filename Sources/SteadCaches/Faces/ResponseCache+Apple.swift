#if !canImport(FoundationNetworking)
  // Not run on this project's machines.
  public import Foundation

  /// Foundation's own: Apple's `URLCache` keeps what is promised here.
  public typealias ResponseCache = URLCache
#endif
