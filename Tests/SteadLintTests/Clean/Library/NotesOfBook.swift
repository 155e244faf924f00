import SwiftData
import SwiftUI

struct NotesOfBook: View {
  @Query private var notes: [Note]

  init(book: Book) {
    let id = book.persistentModelID
    _notes = Query(filter: #Predicate<Note> { $0.book?.persistentModelID == id }, sort: \.page)
  }

  var body: some View {
    ForEach(notes) { Text($0.text) }
  }
}
