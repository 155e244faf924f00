#if !canImport(Darwin)
  // As on Apple's systems, where a file that imports OSLog has Foundation with it.
  @_exported public import Foundation
#endif
