@Suite("Autosaves that failed", .serialized) @MainActor struct AutosaveFailureTests {
  /// What the object is changed in again, to mend why it was not saved.
  enum Remedy: CaseIterable { case sameProperties, deletion, otherObjects }

  /// The property was noted as changed already, and no turn was asked for.
  @Test(.hangLimit, arguments: Remedy.allCases, [false, true])
  func `a failed autosave is tried again once the cause is mended`(
    _ remedy: Remedy, isNew: Bool
  ) async throws {
    let store = try TestStore(Account.self)
    let main = store.container.mainContext
    let first = Account(email: "a", login: "a")
    main.insertAll(first, Account(email: "b", login: "b"))
    try main.save()
    // With the address of one row and the login of another it can be neither.
    let account = isNew ? Account(email: "a", login: "b") : Account(email: "c", login: "c")
    main.insert(account)
    if !isNew {
      try main.save()
      (account.email, account.login) = ("a", "b")
    }
    for _ in 0..<3 { await Task { @MainActor in }.value }
    #expect(main.hasChanges)
    switch remedy {
    case .sameProperties: (account.email, account.login) = ("d", "d")
    case .deletion: main.delete(account)
    case .otherObjects:
      for other in try main.all(Account.self) where other !== account {
        (other.email, other.login) = (other.email + "!", other.login + "!")
      }
    }
    while main.hasChanges {
      try Task.checkCancellation()
      await Task { @MainActor in }.value
    }
    let count = remedy == .deletion ? 2 : 3
    #expect(try store.reopened().count(Account.self) == count)
  }
}
