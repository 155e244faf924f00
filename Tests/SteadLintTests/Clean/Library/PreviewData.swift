import SwiftData
import SwiftUI

@MainActor
enum PreviewData {
  static let container: ModelContainer = {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    let container = try! ModelContainer(for: Book.self, configurations: configuration)
    container.mainContext.insert(Book(isbn: "1", title: "Dune", author: "Herbert"))
    return container
  }()
}

#Preview {
  BookList().modelContainer(PreviewData.container)
}
