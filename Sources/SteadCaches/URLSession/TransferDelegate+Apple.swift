#if !canImport(FoundationNetworking)
  // Not run on this project's machines.
  import Foundation

  /// Authentication, for which the delegate of the user's session is called. It gets that session,
  /// and a task that isn't one of its tasks.
  extension TransferDelegate {
    private static let methodsOfSessions: Set<String> = [
      NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodNegotiate,
      NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodServerTrust,
    ]

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard let user = userSession, let delegate = user.delegate else {
        return completionHandler(.performDefaultHandling, nil)
      }
      // As URLSession does: a delegate without the method for sessions is asked by the one for
      // tasks.
      let method = challenge.protectionSpace.authenticationMethod
      if Self.methodsOfSessions.contains(method),
        delegate.urlSession?(user, didReceive: challenge, completionHandler: completionHandler)
          != nil
      {
        return
      }
      let ofTasks = delegate as? any URLSessionTaskDelegate
      let answer: Void? = ofTasks?.urlSession?(
        user, task: task, didReceive: challenge, completionHandler: completionHandler)
      if answer == nil { completionHandler(.performDefaultHandling, nil) }
    }
  }
#endif
