import Foundation
import SteadTransfer
import SwiftData

func importNotes(from store: URL, into container: ModelContainer) throws {
  try CoreDataImport(from: store, to: container).run()
}
