import SwiftUI

struct Sidebar: View {
  @SceneStorage("sidebarSelection") private var selection: String?
  @AppStorage("sidebarWidth", store: UserDefaults(suiteName: "group.example.reader")) private
    var width = 220.0

  var body: some View { List(selection: $selection) {}.frame(width: width) }
}
