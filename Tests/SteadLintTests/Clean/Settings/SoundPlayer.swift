import Foundation

struct SoundPlayer {
  func play(_ name: String) {
    guard UserDefaults.standard.bool(forKey: DefaultsKey.playsSounds) else { return }
    print("playing", name)
  }
}
