import Foundation
import Security

func removeAll() {
  let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword]
  SecItemDelete(query as CFDictionary)
}
