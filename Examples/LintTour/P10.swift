import SwiftUI

struct FontSize: View {
  @AppStorage("editor.fontSize") private var size = 12
  var body: some View { Stepper("Size", value: $size) }
}
