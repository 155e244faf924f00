import Foundation
import Security

struct KeychainError: Error {
  let status: OSStatus

  init?(_ status: OSStatus) {
    guard status != errSecSuccess else { return nil }
    self.status = status
  }
}
