extension RuleSamples {
  /// Samples of P04 that differ in what becomes of the error alone.
  static let handledErrors: (flagged: [String], silent: [String]) = (
    flagged: [
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch let error as StoreError {
          throw error
        } catch {
          items = []
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch {
          errorCount = 0
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch {
          if self.error == nil { items = [] }
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch {
          if error != nil, lastError === error { print(error) }
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch {
          lastError = nil
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch {
          let nsError = error as NSError
          print(nsError.code)
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch {
          _ = error
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch {
          log.append(error)
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch let error as DecodingError { print(error) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch DecodingError.keyNotFound(let key, _) { print(key) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch is URLError { throw Failed() } catch { print(error) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch let problem { print(problem) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch let error where isOld(error) { print(error) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        if (try? JSONDecoder().decode([Item].self, from: data)) == nil { print(data) } // !
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        let found = try? JSONDecoder().decode([Item].self, from: data) // !
        if found == nil { print(data) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        let found = try? JSONDecoder().decode([Item].self, from: data) // !
        show(found)
        guard let found else { throw Unreadable() }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
    ],
    silent: [
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data)
        } catch {
          errorMessage = error.localizedDescription
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data)
        } catch {
          self.problem = error
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data)
        } catch {
          state = .failed(error)
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data)
        } catch {
          errors.append(error)
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data)
        } catch {
          let text = "\(error)"; message = text
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          items = try JSONDecoder().decode([Item].self, from: data)
        } catch {
          await MainActor.run { self.state = .failed(error) }
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch let problem { failed = problem }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load(completion: ((State?, (any Error)?) -> Void)?) {
        guard let data = defaults.data(forKey: "items") else { return }
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch { completion?(nil, error) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch { continuation.resume(throwing: error) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch is URLError { print(1) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch let error as StoreError { print(error) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch CocoaError.fileReadNoSuchFile { items = [] } catch let error as DecodingError { throw Unreadable(error) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do {
          do { items = try JSONDecoder().decode([Item].self, from: data) } catch is URLError { print(1) }
        } catch {
          throw Unreadable(error)
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        do { items = try! JSONDecoder().decode([Item].self, from: data) } catch { print(error) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        do throws(DecodingError) { items = try JSONDecoder().decode([Item].self, from: data) } catch { throw Unreadable(error) }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        let result = Result { try JSONDecoder().decode([Item].self, from: data) }
        finish(with: result)
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        if (try? JSONDecoder().decode([Item].self, from: data)) == nil { throw Unreadable() }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        guard (try? JSONDecoder().decode([Item].self, from: data)) != nil else { throw Unreadable() }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        let found = try? JSONDecoder().decode([Item].self, from: data)
        guard let found else { throw Unreadable() }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        let found = try? JSONDecoder().decode([Item].self, from: data)
        if found == nil { throw Unreadable() }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        let found = try? JSONDecoder().decode([Item].self, from: data)
        guard let all = found, !all.isEmpty else { throw Unreadable() }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items") else { return }
        let found = try? JSONDecoder().decode([Item].self, from: data)
        if let found { show(found) } else { throw Unreadable() }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "items") else { return }
        var error: NSError?
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch let problem { error = problem as NSError }
        guard error == nil else { return }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
    ]
  )
}
