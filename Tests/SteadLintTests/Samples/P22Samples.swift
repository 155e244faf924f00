extension RuleSamples {
  static let p22 = RuleSamples(
    rule: "P22",
    flagged: [
      "import SwiftUI\nfunc f() { do { try context.save() } catch {} } // !",
      #"""
      import SwiftUI
      func f() {
        do {
          try document.save()
          load()
        } catch {
          try? context.save() // !
        }
        do {
          try context.save()
        } catch {
          Task { try? context.save() } // !
        }
      }
      """#,
      "import SwiftUI\nfunc f() { try? modelContext.save() } // !",
      "import SwiftUI\nfunc f() { try? container.mainContext.save() } // !",
      "import SwiftUI\nfunc f() { _ = try? viewContext.save() } // !",
      "import SwiftUI\nfunc f(_ store: ModelContext) { try? store.save() } // !",
      "import SwiftUI\nfunc f() async { try? await backgroundContext.save() } // !",
      "import SwiftUI\nclass A { let moc: NSManagedObjectContext; func f() { try? self.moc.save() } } // !",
      "import SwiftUI\nfunc f() { Button(\"Save\") { try? context.save() } } // !",
      #"""
      import SwiftUI
      func cleanupEntries() {
        for entry in old { context.delete(entry) }
        try? context.save() // ?
      }
      """#,
      #"""
      import SwiftUI
      struct FilterView: View {
        func save() {
          let filter = CachedFilter(context: context)
          filter.text = text
          try? context.save() // !
        }
      }
      """#,
      #"""
      import SwiftUI
      func f() {
        let context = ModelContext(store.localCacheContainer)
        context.insert(entry)
        try? other.mainContext.save() // !
      }
      """#,
      #"""
      import SwiftUI
      func f() {
        if isNew {
          try? context.save() // !
          return
        }
        Task { try? context.save() } // !
      }
      """#,
      #"""
      import SwiftUI
      func persist() {
        context.insert(CachedImage(url))
        context.insert(Note(text))
        try? context.save() // !
      }
      """#,
      #"""
      import Foundation
      func deliver() { try? context.save() } // ?
      """#,
    ],
    silent: [
      #"""
      import UIKit
      func a() throws {
        do { try modelContext.save() } catch CocoaError.validationMissingMandatoryProperty {}
      }
      """#,
      #"""
      import SwiftUI
      func delete() {
        context.delete(note)
        do {
          try context.save()
        } catch {
          context.insert(note)
          try? context.save()
          alert = error
        }
      }
      """#,
      "import SwiftUI\nfunc f() { do { try context.save() } catch { alert = error } }",
      "func f() throws { try modelContext.save() }",
      "func f() { try? document.save() }",
      "func f() { do { try context.save() } catch { show(error) } }",
      "func f() { if (try? context.save()) == nil { show() } }",
      "func f(context: EditorContext) { try? context.save() }",
      "#Preview { try? context.save() }",
      "import XCTest\nfunc testA() { try? context.save() }",
      "func f() { try? context.save(to: url) }",
      #"""
      func store() {
        let container = DataProvider.shared.localCacheContainer
        let context = ModelContext(container)
        context.insert(entry)
        try? context.save()
      }
      """#,
      #"""
      func persist() {
        let image = CachedImage(url)
        context.insert(image)
        try? context.save()
      }
      """#,
      #"""
      func update() {
        let request = NSFetchRequest<CachedSub>(entityName: "CachedSub")
        for sub in request.execute() { context.delete(sub) }
        try? context.save()
      }
      """#,
      #"""
      func send() throws {
        for part in parts {
          message.text = part
          try? context.save()
        }
        message.isDone = true
        try context.save()
      }
      """#,
      #"""
      func createTestData() { context.insert(entry); try? context.save() }
      """#,
      #"""
      struct DebugView { func fill() { try? context.save() } }
      """#,
      #"""
      func toggle(entity: CachedSub?) {
        if let entity = entity, let context = entity.managedObjectContext { try? context.save() }
      }
      """#,
    ])
}
