import SwiftUI

struct SoundSwitch: View {
  @AppStorage("playsSounds") private var playsSounds = true
  var body: some View { Toggle("Sounds", isOn: $playsSounds) }
}

func playIfWished() {
  if UserDefaults.standard.bool(forKey: "playsSounds") { print("ding") }
}
