import UIKit

func saveName(_ name: String) {
  UserDefaults.standard.set(name, forKey: "displayName")
  UserDefaults.standard.synchronize()
}
