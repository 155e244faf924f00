import Foundation

func removeAll(_ defaults: UserDefaults) {
  for key in defaults.dictionaryRepresentation().keys { defaults.removeObject(forKey: key) }
}
