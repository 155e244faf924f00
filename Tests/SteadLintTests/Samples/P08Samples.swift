extension RuleSamples {
  static let p08 = RuleSamples(
    rule: "P08",
    flagged: [
      #"UserDefaults.standard.set(photo.pngData(), forKey: "avatar") // !"#,
      #"UserDefaults.standard.set(image.jpegData(compressionQuality: 1), forKey: "a") // !"#,
      #"""
      func keep(_ image: UIImage) {
        let data = image.jpegData(compressionQuality: 0.8)
        UserDefaults.standard.set(data, forKey: "background") // !
      }
      """#,
      #"""
      func keep(_ image: UIImage, defaults: UserDefaults) {
        guard let bytes = image.heicData() else { return }
        defaults.set(bytes, forKey: "photo") // !
      }
      """#,
      #"sharedDefaults.setValue(icon.tiffRepresentation, forKey: "icon") // !"#,
      #"UserDefaults(suiteName: "g")?.set(UIImagePNGRepresentation(image), forKey: "image") // !"#,
      #"""
      final class Log {
        var lines: [Line] = []
        func add(_ line: Line) {
          lines.append(line) // ?
          defaults.set(try? JSONEncoder().encode(lines), forKey: "lines")
        }
      }
      """#,
      #"""
      final class History {
        private var items: [Item] = []
        func add(_ item: Item) {
          items.insert(item, at: 0) // ?
          save()
        }
        private func save() {
          guard let data = try? JSONEncoder().encode(items) else { return }
          UserDefaults.standard.set(data, forKey: "history")
        }
      }
      """#,
    ],
    silent: [
      #"""
      final class History {
        private var items: [Item] = []
        func add(_ item: Item) {
          items.insert(item, at: 0)
          if items.count > 500 { items.removeLast(items.count - 500) }
          UserDefaults.standard.set(try? JSONEncoder().encode(items), forKey: "history")
        }
      }
      """#,
      #"""
      final class History {
        private var items: [Item] = []
        func add(_ item: Item) throws {
          items.append(item)
          try JSONEncoder().encode(items).write(to: url, options: .atomic)
        }
      }
      """#,
      #"UserDefaults.standard.set(photoName, forKey: "avatar")"#,
      #"try photo.pngData()?.write(to: url)"#,
      #"cache.set(photo.pngData(), forKey: "avatar")"#,
      #"func f() { let data = photo.pngData(); upload(data); UserDefaults.standard.set(name, forKey: "n") }"#,
      #"UserDefaults.standard.removeObject(forKey: "image")"#,
      #"UserDefaults.standard.set(data, forKey: "data")"#,
    ])
}
