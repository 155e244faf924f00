import Foundation
import Security

func addPlainly(_ data: Data) -> OSStatus {
  let query: [CFString: Any] = [
    kSecClass: kSecClassGenericPassword, kSecAttrService: "tour", kSecValueData: data,
  ]
  return SecItemAdd(query as CFDictionary, nil)
}
