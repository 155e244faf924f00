import SwiftUI

struct SettingsView: View {
  @AppStorage(DefaultsKey.playsSounds) private var playsSounds = true
  @AppStorage(DefaultsKey.fontSize) private var fontSize = 14
  @AppStorage(DefaultsKey.hasPassword) private var hasPassword = false

  var body: some View {
    Form {
      Toggle("Sounds", isOn: $playsSounds)
      Stepper("Font size \(fontSize)", value: $fontSize, in: 9...30)
      if hasPassword { Text("A password is set") }
    }
  }
}
