import Foundation
import Security

func hasPassword(server: String, user: String) -> Bool {
  let query: [CFString: Any] = [
    kSecClass: kSecClassInternetPassword, kSecAttrServer: server, kSecAttrAccount: user,
  ]
  return SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess
}
