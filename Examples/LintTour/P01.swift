import SwiftUI

struct KeyField: View {
  @AppStorage("openAIAPIKey") private var key = ""
  var body: some View { TextField("Key", text: $key) }
}
