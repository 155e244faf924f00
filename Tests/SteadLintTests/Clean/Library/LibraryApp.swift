import SwiftData
import SwiftUI

@main
struct LibraryApp: App {
  @State private var opening = Opening.pending

  enum Opening {
    case pending
    case ready(ModelContainer)
    case failed(any Error)
  }

  var body: some Scene {
    WindowGroup {
      switch opening {
      case .pending: ProgressView().task { open() }
      case .ready(let container): BookList().modelContainer(container)
      case .failed(let error):
        ContentUnavailableView(error.localizedDescription, systemImage: "xmark")
      }
    }
  }

  private func open() {
    do {
      opening = .ready(try ModelContainer(for: Book.self, Note.self, Shelf.self))
    } catch {
      opening = .failed(error)
    }
  }
}
