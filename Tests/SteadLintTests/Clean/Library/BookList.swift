import SwiftData
import SwiftUI

struct BookList: View {
  @Environment(\.modelContext) private var modelContext
  @Query(sort: \Book.title) private var books: [Book]
  @State private var failure: SaveFailure?

  var body: some View {
    List {
      ForEach(books) { BookRow(book: $0) }.onDelete(perform: delete)
    }
    .alert(item: $failure) { Alert(title: Text($0.message)) }
  }

  private func delete(at offsets: IndexSet) {
    for offset in offsets { modelContext.delete(books[offset]) }
    do {
      try modelContext.save()
    } catch {
      failure = SaveFailure(error)
    }
  }
}
