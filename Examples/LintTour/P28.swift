import Foundation
import Security

func addBlindly(_ query: [CFString: Any]) {
  SecItemDelete(query as CFDictionary)
  SecItemAdd(query as CFDictionary, nil)
}
