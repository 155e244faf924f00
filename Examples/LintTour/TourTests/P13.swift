import Foundation
import Testing

@Test func remembersTheName() {
  UserDefaults.standard.set("Ada", forKey: "name")
}
