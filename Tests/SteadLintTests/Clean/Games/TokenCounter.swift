import SwiftUI

struct TokenCounter: View {
  @AppStorage("tokenCount") private var tokenCount = 0
  @AppStorage("maxTokens") private var maxTokens = 100

  var body: some View { Text("\(tokenCount) of \(maxTokens)") }
}
