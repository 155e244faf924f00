import Foundation
import Security

struct SecretStore {
  let service: String

  func set(_ data: Data, for account: String) throws {
    var status = SecItemAdd(query(account, adding: data) as CFDictionary, nil)
    if status == errSecDuplicateItem {
      status = SecItemUpdate(
        query(account) as CFDictionary, [kSecValueData: data] as CFDictionary)
    }
    if let error = KeychainError(status) { throw error }
  }

  func remove(_ account: String) {
    SecItemDelete(query(account) as CFDictionary)
  }

  private func query(_ account: String, adding data: Data? = nil) -> [CFString: Any] {
    var query: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
    ]
    if let data {
      query[kSecValueData] = data
      query[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    }
    return query
  }
}
