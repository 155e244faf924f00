extension RuleSamples {
  /// A type's loading from preferences, whose attempt is given, beside its saving.
  private static func sample(_ attempt: String, in function: String = "load()") -> String {
    """
    func \(function) {
      guard let data = defaults.data(forKey: "items") else { return }
      \(attempt.replacing("\n", with: "\n  "))
    }
    func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
    """
  }

  /// An attempt whose `catch` clause is given.
  ///
  /// - Parameter isFound: Whether the rule reports it.
  private static func caught(_ handling: String, isFound: Bool = false) -> String {
    sample(
      """
      do {
        items = try JSONDecoder().decode([Item].self, from: data)\(isFound ? " // !" : "")
      } catch {
        \(handling)
      }
      """)
  }

  /// Samples of P04 that differ in what becomes of the error alone.
  static let handledErrors: (flagged: [String], silent: [String]) = (
    flagged: [
      sample(
        #"""
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch let error as StoreError {
          throw error
        } catch {
          items = []
        }
        """#),
      caught("errorCount = 0", isFound: true),
      caught("if self.error == nil { items = [] }", isFound: true),
      caught("if error != nil, lastError === error { print(error) }", isFound: true),
      caught("lastError = nil", isFound: true),
      sample(
        #"""
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch {
          let nsError = error as NSError
          print(nsError.code)
        }
        """#),
      caught("_ = error", isFound: true),
      caught("log.append(error)", isFound: true),
      sample(
        #"""
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch let error as DecodingError { print(error) }
        """#, in: "load() throws"),
      sample(
        #"""
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch DecodingError.keyNotFound(let key, _) { print(key) }
        """#, in: "load() throws"),
      sample(
        #"""
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch is URLError { throw Failed() } catch { print(error) }
        """#, in: "load() throws"),
      sample(
        #"""
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch let problem { print(problem) }
        """#, in: "load() throws"),
      sample(
        #"""
        do {
          items = try JSONDecoder().decode([Item].self, from: data) // !
        } catch let error where isOld(error) { print(error) }
        """#, in: "load() throws"),
      sample(
        #"""
        if (try? JSONDecoder().decode([Item].self, from: data)) == nil { print(data) } // !
        """#),
      sample(
        #"""
        let found = try? JSONDecoder().decode([Item].self, from: data) // !
        if found == nil { print(data) }
        """#),
      sample(
        #"""
        let found = try? JSONDecoder().decode([Item].self, from: data) // !
        show(found)
        guard let found else { throw Unreadable() }
        """#, in: "load() throws"),
    ],
    silent: [
      caught("errorMessage = error.localizedDescription"),
      caught("self.problem = error"),
      caught("state = .failed(error)"),
      caught("errors.append(error)"),
      caught(#"let text = "\(error)"; message = text"#),
      caught("await MainActor.run { self.state = .failed(error) }"),
      sample(
        #"""
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch let problem { failed = problem }
        """#),
      sample(
        #"""
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch { completion?(nil, error) }
        """#, in: "load(completion: ((State?, (any Error)?) -> Void)?)"),
      sample(
        #"""
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch { continuation.resume(throwing: error) }
        """#),
      sample(
        #"""
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch is URLError { print(1) }
        """#, in: "load() throws"),
      sample(
        #"""
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch let error as StoreError { print(error) }
        """#, in: "load() throws"),
      sample(
        #"""
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch CocoaError.fileReadNoSuchFile { items = [] } catch let error as DecodingError { throw Unreadable(error) }
        """#, in: "load() throws"),
      sample(
        #"""
        do {
          do { items = try JSONDecoder().decode([Item].self, from: data) } catch is URLError { print(1) }
        } catch {
          throw Unreadable(error)
        }
        """#, in: "load() throws"),
      sample(
        #"""
        do { items = try! JSONDecoder().decode([Item].self, from: data) } catch { print(error) }
        """#),
      sample(
        #"""
        do throws(DecodingError) { items = try JSONDecoder().decode([Item].self, from: data) } catch { throw Unreadable(error) }
        """#, in: "load() throws"),
      sample(
        #"""
        let result = Result { try JSONDecoder().decode([Item].self, from: data) }
        finish(with: result)
        """#),
      sample(
        #"""
        if (try? JSONDecoder().decode([Item].self, from: data)) == nil { throw Unreadable() }
        """#, in: "load() throws"),
      sample(
        #"""
        guard (try? JSONDecoder().decode([Item].self, from: data)) != nil else { throw Unreadable() }
        """#, in: "load() throws"),
      sample(
        #"""
        let found = try? JSONDecoder().decode([Item].self, from: data)
        guard let found else { throw Unreadable() }
        """#, in: "load() throws"),
      sample(
        #"""
        let found = try? JSONDecoder().decode([Item].self, from: data)
        if found == nil { throw Unreadable() }
        """#, in: "load() throws"),
      sample(
        #"""
        let found = try? JSONDecoder().decode([Item].self, from: data)
        guard let all = found, !all.isEmpty else { throw Unreadable() }
        """#, in: "load() throws"),
      sample(
        #"""
        let found = try? JSONDecoder().decode([Item].self, from: data)
        if let found { show(found) } else { throw Unreadable() }
        """#, in: "load() throws"),
      sample(
        #"""
        var error: NSError?
        do { items = try JSONDecoder().decode([Item].self, from: data) } catch let problem { error = problem as NSError }
        guard error == nil else { return }
        """#),
    ]
  )
}
