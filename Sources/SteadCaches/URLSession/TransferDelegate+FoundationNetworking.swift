#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking

  /// Authentication, for which the delegate of the user's session is called. It gets that session,
  /// and a task that isn't one of its tasks.
  extension TransferDelegate {
    private typealias Answer =
      @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      // Default handling of a challenge without such a credential would leave the task waiting for
      // ever.
      let isProposed = challenge.proposedCredential != nil && challenge.previousFailureCount == 0
      let answer: Answer = { disposition, credential in
        self.answer(task, disposition, credential, isProposed, completionHandler)
      }
      guard let user = userSession, let delegate = user.delegate as? any URLSessionTaskDelegate
      else {
        return answer(.performDefaultHandling, nil)
      }
      delegate.urlSession(user, task: task, didReceive: challenge, completionHandler: answer)
    }

    /// Passes on a delegate's answer where URLSession handles it as Apple's does. Off Apple's
    /// systems a task whose challenge nobody answers never ends, so its response is delivered from
    /// here.
    ///
    /// - Parameter isProposed: Whether URLSession has a credential that it has not tried yet.
    private func answer(
      _ task: URLSessionTask, _ disposition: URLSession.AuthChallengeDisposition,
      _ credential: URLCredential?, _ isProposed: Bool, _ handOn: Answer
    ) {
      switch disposition {
      case .useCredential where credential != nil: handOn(.useCredential, credential)
      case .performDefaultHandling where isProposed: handOn(.performDefaultHandling, nil)
      case .cancelAuthenticationChallenge:
        // Ended before it is cancelled: the transfer is out of the table, and the task's own error
        // is ignored.
        end(task, URLError(.userCancelledAuthentication))
        handOn(.cancelAuthenticationChallenge, nil)
      default:
        // No credential: the 401 that was received is the response.
        end(task, nil)
        handOn(.cancelAuthenticationChallenge, nil)
      }
    }
  }
#endif
