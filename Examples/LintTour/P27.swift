import Foundation
import Security

func openToAll(_ data: Data) -> [CFString: Any] {
  [
    kSecClass: kSecClassGenericPassword, kSecAttrService: "tour",
    kSecAttrAccessible: kSecAttrAccessibleAlways, kSecValueData: data,
  ]
}
